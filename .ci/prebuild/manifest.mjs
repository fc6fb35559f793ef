// prebuilds/manifest.json: what each shipped binary was made from.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../node-gyp.mjs';
import { sha256 } from '../sources-digest.mjs';
import { recipeOf } from './targets.mjs';

const manifestPath = path.join(root, 'prebuilds', 'manifest.json');

export function readManifest() {
  return existsSync(manifestPath) ? JSON.parse(readFileSync(manifestPath, 'utf8')) : {};
}

export function writeManifest(manifest) {
  const sorted = Object.fromEntries(
    Object.entries(manifest).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
  writeFileSync(manifestPath, `${JSON.stringify(sorted, undefined, 2)}\n`);
}

export function recipeDigest(target) {
  return sha256(JSON.stringify(recipeOf(target)));
}
