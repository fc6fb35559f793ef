import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { isLockAddonError } from '../lib/error-guards.js';
import type { LockAddonError } from '../lib/errors.js';
import { loadFrom } from '../lib/native.js';
import { packageRoot, program } from './helpers/program.js';
import { useTempDir } from './helpers/temp-dir.js';

const temp = useTempDir();

function failureOf(root: string): LockAddonError {
  try {
    loadFrom(root);
  } catch (error) {
    if (isLockAddonError(error)) return error;
    throw error;
  }
  throw new Error('the addon was loaded');
}

function packageWithLoader(): string {
  const root = temp.directory('package');
  symlinkSync(join(packageRoot, 'node_modules'), join(root, 'node_modules'), 'junction');
  return root;
}

test('a package without an addon says what was tried where, and what to do', () => {
  const root = packageWithLoader();
  const error = failureOf(root);
  expect(error).toMatchObject({ code: 'ERR_LOCK_ADDON', path: root });
  expect(error.cause).toBeInstanceOf(Error);
  const { platform, arch, versions } = process;
  expect(error.message).toContain(`on ${platform} ${arch}`);
  expect(error.message).toContain(`Node.js ${versions.node}`);
  expect(error.message).toContain(
    `Tried build/Release (not there) and prebuilds/${platform}-${arch} (not there) in '${root}'`,
  );
  expect(error.message).toContain('npm run build');
  expect(error.message).not.toContain('\n');
  expect(error.message.includes('libc: ')).toBe(platform === 'linux');
});

test('an addon that is there and does not load keeps what loading it raised', () => {
  const root = packageWithLoader();
  mkdirSync(join(root, 'build', 'Release'), { recursive: true });
  writeFileSync(join(root, 'build', 'Release', 'bucketlock.node'), 'no library');
  const error = failureOf(root);
  expect(error.message).toContain('Tried build/Release (there)');
  expect(error.cause).toMatchObject({ code: 'ERR_DLOPEN_FAILED' });
});

test('a package without its loader fails with the same error', () => {
  const error = failureOf(temp.directory('package'));
  expect(error.cause).toMatchObject({ code: 'MODULE_NOT_FOUND' });
});

test('importing the package loads no addon, the first use of a lock does', () => {
  const script = `
    const { inspectLockSync } = await import(${JSON.stringify(pathToFileURL(program.entry).href)});
    const isLoaded = () => process.report.getReport().sharedObjects.some((path) => path.endsWith('bucketlock.node'));
    const before = isLoaded();
    inspectLockSync(${JSON.stringify(temp.path)});
    console.log(JSON.stringify([before, isLoaded()]));`;
  const output = execFileSync(program.node, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toEqual([false, true]);
});
