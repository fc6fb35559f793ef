// Keeps the sizes of the binaries in README.md true: each is a number of kB behind a target's name.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../node-gyp.mjs';
import { targets } from './targets.mjs';

export function writeSizes() {
  const readme = path.join(root, 'README.md');
  const text = readFileSync(readme, 'utf8').replace(/`([a-z0-9-]+)` \d+\b/g, (told, target) =>
    targets[target] === undefined ? told : `\`${target}\` ${sizeOf(targets[target])}`,
  );
  writeFileSync(readme, text);
}

function sizeOf({ file }) {
  return String(Math.round(statSync(path.join(root, file)).size / 1000));
}
