import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { TestContext } from 'vitest';

import type { TempDir } from './temp-dir.js';
import { requireTool } from './tools.js';

/** What a process can be made to miss: each is a C file in `fixtures/`. */
export type Lack = 'no-nameless-files' | 'no-exclusive-rename';

/** The environment of a process that lacks these, on whatever file system. */
export function lacking(
  context: TestContext,
  temp: TempDir,
  ...lacks: readonly Lack[]
): Readonly<Record<string, string>> {
  requireTool(context, 'cc');
  const libraries = temp.directory('preload');
  const compiled = lacks.map((lack) => {
    const source = fileURLToPath(new URL(`../fixtures/${lack}.c`, import.meta.url));
    const library = join(libraries, `${lack}.so`);
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
    return library;
  });
  return { LD_PRELOAD: compiled.join(':') };
}
