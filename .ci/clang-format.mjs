// Checks (--check) or rewrites (--write) the layout of the C++ sources with the clang-format pinned in package.json,
// because every release of clang-format lays some lines out differently.
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root, run } from './node-gyp.mjs';

const { clangFormatPath } = createRequire(import.meta.url)('clang-format-node');

const files = ['native', path.join('test', 'native'), path.join('test', 'windows')]
  .filter((folder) => existsSync(path.join(root, folder)))
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((file) =>
      path.join(folder, file),
    ),
  )
  .filter((file) => /\.(cc|h)$/.test(file))
  .sort();

if (files.length > 0) {
  // The package makes its binary executable in an install script, which npm may refuse to run.
  chmodSync(clangFormatPath, 0o755);
  const mode = process.argv.includes('--write') ? ['-i'] : ['--dry-run', '-Werror'];
  run(clangFormatPath, [...mode, '--style=file', ...files]);
}
