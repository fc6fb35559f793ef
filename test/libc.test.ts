import { execFileSync } from 'node:child_process';
import { copyFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { currentLibc, libcOfExecutable } from '../lib/libc.js';
import { useTempDir } from './helpers/temp-dir.js';
import { requireTool } from './helpers/tools.js';

const temp = useTempDir();

/** An executable that asks for this dynamic loader, or is one of its own without any. */
function executable(name: string, ...flags: string[]): string {
  const file = join(temp.path, name);
  const source = `${file}.c`;
  writeFileSync(source, 'int main(void) { return 0; }\n');
  execFileSync('cc', ['-o', file, source, ...flags], { stdio: 'inherit' });
  return file;
}

test.skipIf(process.platform !== 'linux')('this process is told apart by its loader', () => {
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  const libc = report.header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  expect(libcOfExecutable(process.execPath)).toBe(libc);
  expect(currentLibc()).toBe(libc);
});

test.for([
  ['/lib/ld-musl-x86_64.so.1', 'musl'],
  ['/nix/store/00-musl-1.2.5/lib/ld-musl-aarch64.so.1', 'musl'],
  ['/lib64/ld-linux-x86-64.so.2', 'glibc'],
  // A musl that lies in a folder of the other's name is musl all the same.
  ['/opt/ld-linux/ld-musl-x86_64.so.1', 'musl'],
  ['/system/bin/linker64', undefined],
])('an executable that asks for %s belongs to %s', ([loader = '', libc], context) => {
  requireTool(context, 'cc');
  const file = executable('asks', `-Wl,--dynamic-linker=${loader}`);
  expect(libcOfExecutable(file)).toBe(libc);
});

test('an executable that asks for no loader tells nothing', (context) => {
  requireTool(context, 'cc');
  expect(libcOfExecutable(executable('static', '-static'))).toBeUndefined();
});

test('what is no executable tells nothing, whatever it is', () => {
  const files = ['script', 'empty', 'cut'].map((name) => join(temp.path, name));
  const [script = '', empty = '', cut = ''] = files;
  writeFileSync(script, '#!/lib/ld-musl-x86_64.so.1\n');
  writeFileSync(empty, '');
  copyFileSync(process.execPath, cut);
  truncateSync(cut, 100);
  for (const path of [...files, temp.path, join(temp.path, 'missing')]) {
    expect(libcOfExecutable(path)).toBeUndefined();
  }
});
