import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join, relative, dirname } from 'node:path';

import { packageRoot, program } from './program.js';

/**
 * Installs the built package, addon and all, a second time below `directory`, and answers its
 * entry file.
 */
export function copyPackage(directory: string): string {
  for (const name of [
    'package.json',
    'binding.gyp',
    'dist',
    join('build', 'Release'),
    'prebuilds',
  ]) {
    const source = join(packageRoot, name);
    if (!existsSync(source)) continue;
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    cpSync(source, join(directory, name), {
      recursive: true,
      filter: (path) => !path.includes('obj.target'),
    });
  }
  return join(directory, relative(packageRoot, program.entry));
}
