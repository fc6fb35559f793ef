// Compiles lib/ into dist/, and removes from dist/ what no source stands for any more: all of dist/ is published.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root, run } from './node-gyp.mjs';

const tsc = path.join(createRequire(import.meta.url).resolve('typescript'), '..', 'tsc.js');
run(process.execPath, [tsc, '-p', 'tsconfig.json']);

for (const file of readdirSync(path.join(root, 'dist'))) {
  const source = file.replace(/(\.d\.ts|\.js)$/, '.ts');
  if (!existsSync(path.join(root, 'lib', source))) rmSync(path.join(root, 'dist', file));
}
