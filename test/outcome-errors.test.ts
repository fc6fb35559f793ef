import { constants } from 'node:os';

import { expect, test } from 'vitest';

import {
  isBucketValidationError,
  isLockError,
  isLockUnsupportedError,
} from '../lib/error-guards.js';
import { errorOf } from '../lib/outcome-errors.js';

const { EACCES, ENOENT, ENOLCK, ENOSPC } = constants.errno;

test('a system error keeps code, errno, syscall and path as Node.js errors do', () => {
  const failure = { outcome: 'failed', errno: -EACCES, syscall: 'open', path: '/a/.lock' } as const;
  const error = errorOf(failure, '/a', 'acquire');
  expect(isLockError(error)).toBe(true);
  expect(error).toMatchObject({
    code: 'EACCES',
    errno: -EACCES,
    syscall: 'open',
    path: '/a/.lock',
  });
  expect(error.message).toBe(
    "Cannot acquire the bucket lock on '/a': EACCES: permission denied, open '/a/.lock'; the bucket directory must be writable for whoever locks it",
  );
});

test('a directory that cannot be made for want of its parent says so', () => {
  const failure = { outcome: 'failed', errno: -ENOENT, syscall: 'mkdir', path: '/a/b' } as const;
  expect(errorOf(failure, '/a/b', 'acquire').message).toBe(
    "Cannot acquire the bucket lock on '/a/b': ENOENT: no such file or directory, mkdir '/a/b'; its parent directory must exist",
  );
});

const denials = ['EACCES', 'EPERM', 'EROFS'] as const;

test.for(denials)('%s hints at the directory that must be writable', (code) => {
  const denied = { outcome: 'failed', errno: -constants.errno[code], path: '/a/b' } as const;
  const text = (syscall: string, doing = 'acquire') =>
    errorOf({ ...denied, syscall }, '/a', doing).message.split('; ')[1];
  for (const syscall of ['open', 'link', 'rename']) {
    expect(text(syscall)).toBe('the bucket directory must be writable for whoever locks it');
  }
  expect(text('mkdir')).toBe('its parent directory must be writable');
  // Neither says anything of whether the directory can be written in.
  expect(text('unlink')).toBeUndefined();
  expect(text('open', 'inspect')).toBeUndefined();
});

test('no other failure of creating has that hint', () => {
  const full = { outcome: 'failed', errno: -ENOSPC, syscall: 'open', path: '/a/.lock' } as const;
  expect(errorOf(full, '/a', 'acquire').message).not.toContain(';');
});

test("an error number outside libuv's table gets its name from the system's", () => {
  const failure = { outcome: 'failed', errno: -ENOLCK, syscall: 'flock', path: '/a' } as const;
  const error = errorOf(failure, '/a', 'acquire');
  expect(error.code).toBe('ENOLCK');
  expect(error.message).toContain('ENOLCK: no locks available, flock');
});

test('an error number that has no name at all is still an error with its number', () => {
  const failure = { outcome: 'failed', errno: -99_999, syscall: 'open', path: '/a' } as const;
  const error = errorOf(failure, '/a', 'verify');
  expect(error).toMatchObject({ code: 'UNKNOWN', errno: -99_999 });
  expect(error.message).toContain('UNKNOWN: unknown system error -99999, open');
});

test('a file system without locks is unsupported and names its type', () => {
  const outcome = {
    outcome: 'unsupported',
    errno: -ENOLCK,
    syscall: 'flock',
    path: '/a/.lock',
    fileSystem: 'nfs',
  } as const;
  const error = errorOf(outcome, '/a', 'acquire');
  expect(isLockUnsupportedError(error)).toBe(true);
  expect(error).toMatchObject({ path: '/a', errno: -ENOLCK, syscall: 'flock', fileSystem: 'nfs' });
  expect(error.message).toContain('ENOLCK');
});

test('what cannot be a bucket is a validation error about the bucket', () => {
  const error = errorOf({ outcome: 'invalid', reason: 'lockfile_not_regular' }, '/a', 'acquire');
  expect(isBucketValidationError(error)).toBe(true);
  expect(error).toMatchObject({ path: '/a', reason: 'lockfile_not_regular' });
});
