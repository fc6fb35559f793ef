import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import ts from 'typescript';
import { expect, test } from 'vitest';

import { packageRoot, program } from './helpers/program.js';

/** The names that a module offers, types included. */
function namesIn(file: string): string[] {
  const sources = ts.createProgram([file], { module: ts.ModuleKind.NodeNext });
  const source = sources.getSourceFile(file);
  const module = source && sources.getTypeChecker().getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is no module`);
  return sources
    .getTypeChecker()
    .getExportsOfModule(module)
    .map(({ name }) => name);
}

test('docs/api.md names every export', async () => {
  const values = (await import(pathToFileURL(program.entry).href)) as Record<string, unknown>;
  const exported = [...namesIn(join(packageRoot, 'lib', 'index.ts')), ...Object.keys(values)];
  expect(exported).toEqual(expect.arrayContaining(['BucketLock', 'LockReport']));
  const [, section = ''] = readFileSync(join(packageRoot, 'docs', 'api.md'), 'utf8').split(
    '## Exports\n',
  );
  const named = [...section.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(exported.filter((name) => !named.includes(name))).toEqual([]);
});
