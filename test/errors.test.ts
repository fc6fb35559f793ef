import { inspect } from 'node:util';

import { describe, expect, test } from 'vitest';

import * as guards from '../lib/error-guards.js';
import * as errors from '../lib/errors.js';
import type { LockReport } from '../lib/lock.js';

const report: LockReport = {
  state: 'held',
  evidence: 'guard',
  pid: 4711,
  process: 'alive',
  since: new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678)),
  label: 'nightly import',
  host: 'alpha',
  token: 'abc',
};
const path = '/srv/orders';

function busy(overrides: Partial<LockReport> = {}, waitedMs = 0) {
  return new errors.BucketBusyError({
    path,
    bucketId: 'orders',
    report: { ...report, ...overrides },
    waitedMs,
  });
}

const samples = {
  LockError: new errors.LockError('sample', { code: 'EIO', path }),
  LockBusyError: new errors.LockBusyError('sample', {
    code: errors.LOCK_ERROR_CODES.LockBusyError,
    path,
    report,
    waitedMs: 0,
  }),
  BucketBusyError: busy(),
  BucketValidationError: new errors.BucketValidationError(path, 'bucket_dir_missing'),
  LockReleaseBlockedError: new errors.LockReleaseBlockedError(path, 10_000),
  LockLostError: new errors.LockLostError(path, 'replaced'),
  LockReentryError: new errors.LockReentryError(path),
  LockUnsupportedError: new errors.LockUnsupportedError(path, 'ENOLCK: no locks, flock', {
    fileSystem: 'nfs',
    errno: -37,
    syscall: 'flock',
  }),
  LockAddonError: new errors.LockAddonError('sample', { path, cause: new Error('why') }),
};

describe('classes', () => {
  test('the table has the stable code of every class', () => {
    expect(errors.LOCK_ERROR_CODES).toEqual({
      LockBusyError: 'ERR_LOCK_BUSY',
      BucketBusyError: 'ERR_BUCKET_BUSY',
      BucketValidationError: 'ERR_BUCKET_INVALID',
      LockReleaseBlockedError: 'ERR_LOCK_RELEASE_BLOCKED',
      LockLostError: 'ERR_LOCK_LOST',
      LockReentryError: 'ERR_LOCK_REENTRY',
      LockUnsupportedError: 'ERR_LOCK_UNSUPPORTED',
      LockAddonError: 'ERR_LOCK_ADDON',
    });
    for (const [name, code] of Object.entries(errors.LOCK_ERROR_CODES)) {
      expect(samples[name as keyof typeof samples].code).toBe(code);
    }
  });

  test.each(Object.entries(samples))(
    '%s is an Error of its own name with its path',
    (name, error) => {
      expect(error).toBeInstanceOf(errors.LockError);
      expect(error.name).toBe(name);
      expect(error.path).toBe(path);
      expect(error.stack).toMatch(new RegExp(`^${name}: `));
      expect(inspect(error)).toContain(`code: '${error.code}'`);
    },
  );

  test('a cause is kept, and absent where there is none', () => {
    expect(samples.LockAddonError.cause).toEqual(new Error('why'));
    expect('cause' in samples.LockError).toBe(false);
    expect('errno' in samples.LockError).toBe(false);
  });

  test('a busy error can be retried and knows the holder', () => {
    expect(busy({}, 250)).toMatchObject({ retryable: true, waitedMs: 250, report });
    expect(busy()).toMatchObject({ bucketId: 'orders', holdingPid: 4711 });
  });

  test('an unknown holder has PID 0', () => {
    const unread = { state: 'held', evidence: 'unknown' } as const;
    const error = new errors.BucketBusyError({ path, bucketId: 'b', report: unread, waitedMs: 0 });
    expect(error.holdingPid).toBe(0);
  });

  test('an unsupported file system keeps what the system said', () => {
    expect(samples.LockUnsupportedError).toMatchObject({
      fileSystem: 'nfs',
      errno: -37,
      syscall: 'flock',
    });
  });
});

describe('guards', () => {
  const ancestors: Record<string, readonly string[]> = {
    LockBusyError: ['LockError'],
    BucketBusyError: ['LockBusyError', 'LockError'],
  };

  test.each(Object.entries(guards))('%s knows its class and the classes below it', (guard, is) => {
    const name = guard.slice('is'.length);
    for (const [className, error] of Object.entries(samples)) {
      const above = ancestors[className] ?? ['LockError'];
      expect(is(error), className).toBe(className === name || above.includes(name));
    }
  });

  test('every class has a guard', () => {
    expect(Object.keys(guards).sort()).toEqual(
      Object.keys(samples)
        .map((name) => `is${name}`)
        .sort(),
    );
  });

  test.each([null, undefined, 'ERR_LOCK_BUSY', {}, new Error('x'), { code: 'ERR_LOCK_BUSY' }])(
    '%o is no lock error',
    (value) => {
      expect(guards.isLockError(value)).toBe(false);
    },
  );

  test('the brand is the one that another copy of the module uses', () => {
    const foreign = Object.create({ [Symbol.for('bucketlock.LockLostError')]: true }) as unknown;
    expect(guards.isLockLostError(foreign)).toBe(true);
  });
});

describe('messages', () => {
  const held =
    'The bucket lock on \'/srv/orders\' is held by process 4711 on host "alpha" for "nightly import" since 2026-01-02T03:04:05.678Z';

  test('after no wait it says how to wait', () => {
    expect(busy().message).toBe(
      `${held}: the kernel lock on its lockfile is held. Pass waitMs to wait.`,
    );
  });

  test('after a wait it says how long it was', () => {
    expect(busy({}, 250).message).toBe(
      `${held}: the kernel lock on its lockfile is held. Gave up after 250 ms.`,
    );
  });

  test('a foreign file system comes with the ways out', () => {
    expect(busy({ evidence: 'foreign', fileSystem: 'nfs' }, 250).message).toBe(
      `${held}: a free kernel lock proves nothing on the file systems involved (seen here: "nfs"). ` +
        'Gave up after 250 ms. If that holder is known to be gone, breakLock(bucket, { token: report.token }) removes its record; ' +
        'trustKernelLocks: true is for directories that every holder reaches through the same kernel and the same mount.',
    );
  });

  test('where waiting may be of no use, the way out comes before it', () => {
    expect(busy({ evidence: 'process-alive' }).message).toBe(
      `${held}: its record is a PID only, and that process is alive. ` +
        'If that holder is known to be gone, breakLock(bucket, { token: report.token }) removes its record. Pass waitMs to wait.',
    );
  });

  test('a lock that was free at the last look was not to be had in time', () => {
    expect(busy({ state: 'stale' }, 250).message).toBe(
      "The bucket lock on '/srv/orders' was not to be had in time. Gave up after 250 ms.",
    );
  });

  test.each([
    ['bucket_dir_not_directory', 'it is not a directory'],
    ['bucket_dir_missing', 'there is no such directory, and create is false'],
    ['bucket_dir_disappeared', 'the directory has disappeared meanwhile'],
    ['lockfile_not_regular', 'its .lock is no regular file; remove what stands there'],
    [
      'bucket_id_invalid',
      'it must name a directory other than a root and contain no NUL character',
    ],
  ] as const)('%s says that %s', (reason, text) => {
    const error = new errors.BucketValidationError(path, reason);
    expect(error.message).toBe(`'/srv/orders' cannot be locked as a bucket: ${text}`);
    expect(error.reason).toBe(reason);
  });

  test.each([
    ['removed', 'its lockfile has been removed'],
    ['replaced', 'another lockfile stands in its place'],
    ['other-process', 'it was acquired by another process, of which this one is a fork'],
  ] as const)('a lock lost as %s says that %s', (reason, text) => {
    const error = new errors.LockLostError(path, reason);
    expect(error.message).toBe(`The bucket lock on '/srv/orders' is no longer ours: ${text}`);
    expect(error.reason).toBe(reason);
  });

  test('re-entry names the ways out', () => {
    expect(samples.LockReentryError.message).toBe(
      "The bucket lock on '/srv/orders' is held or asked for by the very code that would now wait for it. " +
        'Use the lock that is held, release it first, or pass detached: true for work that its holder does not await',
    );
  });

  test('an unsupported file system names the lease lock, and that it is not there yet', () => {
    expect(samples.LockUnsupportedError.message).toBe(
      "The bucket lock on '/srv/orders' cannot be taken: its file system (nfs) has no kernel file locks (ENOLCK: no locks, flock). " +
        'Put the bucket on a local file system. A lease lock needs no kernel file locks; this version of bucketlock has none yet',
    );
  });

  test('a file system whose locks exclude nobody is not said to have none', () => {
    const error = new errors.LockUnsupportedError(path, undefined, { fileSystem: 'fuse' });
    expect(error.message).toBe(
      "The bucket lock on '/srv/orders' cannot be taken: the kernel file locks of its file system (fuse) exclude nobody, so that trustKernelLocks must not be true. " +
        'Put the bucket on a local file system, or leave trustKernelLocks out: the lock of a holder that died then stays until breakLock',
    );
    expect(error).not.toHaveProperty('errno');
  });

  test('a blocked release says that the lock is still held', () => {
    expect(samples.LockReleaseBlockedError.message).toBe(
      "The bucket lock on '/srv/orders' could not be released within 10000 ms: another program keeps its lockfile open. " +
        'It is still held: call release again, or let it be released at exit',
    );
  });
});
