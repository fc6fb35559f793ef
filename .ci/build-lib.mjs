// Compiles lib/ into dist/, all of which is published: declarations for each source, and the code in few files, because
// importing forty modules takes twice as long as importing one.
import { copyFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { root, run } from './node-gyp.mjs';

const require = createRequire(import.meta.url);
const tsc = path.join(require.resolve('typescript'), '..', 'tsc.js');
rmSync(path.join(root, 'dist'), { recursive: true, force: true });
run(process.execPath, [tsc, '-p', 'tsconfig.json']);

buildSync({
  absWorkingDir: root,
  entryPoints: ['lib/index.ts', 'lib/cli.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  // What both share. The command line tool uses more than is exported.
  chunkNames: 'shared',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
});

// Whose code is in there goes with it.
copyFileSync(
  path.join(path.dirname(require.resolve('@noble/hashes/blake2.js')), 'LICENSE'),
  path.join(root, 'dist', 'LICENSE-noble-hashes'),
);
