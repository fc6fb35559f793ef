import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';

import { expect, test, vi } from 'vitest';

import { BucketLock } from '../lib/bucket-lock.js';
import { isLockLostError } from '../lib/error-guards.js';
import { HeldBucket } from '../lib/held-bucket.js';
import { loadAddon } from '../lib/native.js';
import type { NativeAddon, NativeRelease } from '../lib/native.js';
import { useTempDir } from './helpers/temp-dir.js';

const temp = useTempDir();

test('release is idempotent: every call answers what the first one did', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const first = held.release();
  expect(held.release()).toBe(first);
  expect(await first).toBe(true);
  const successor = await lock.acquire();
  expect(await held.release()).toBe(true);
  expect(held.releaseSync()).toBe(true);
  expect(await successor.verify()).toBe(true);
  await successor.release();
});

test('a synchronous release meets an asynchronous one and gives the same answer', async () => {
  const lock = new BucketLock(temp.directory());
  for (const prepare of [() => undefined, rmSync]) {
    const held = await lock.acquire();
    prepare(lock.lockPath);
    const pending = held.release();
    const answer = held.releaseSync();
    expect(answer).toBe(prepare !== rmSync);
    expect(held.released).toBe(true);
    expect(await pending).toBe(answer);
  }
});

test('a lost lock is no longer ours to release, and what stands in its place stays', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  renameSync(lock.lockPath, `${lock.lockPath}.aside`);
  writeFileSync(lock.lockPath, 'somebody else');
  expect(await held.release()).toBe(false);
  expect(await held.release()).toBe(false);
  expect(held.releaseSync()).toBe(false);
  expect(held.released).toBe(true);
  expect(existsSync(lock.lockPath)).toBe(true);
  expect(held.signal.aborted).toBe(true);
  expect(isLockLostError(held.signal.reason)).toBe(true);
  expect(held.signal.reason).toMatchObject({ reason: 'replaced', path: lock.path });
});

test('verify finds a loss and aborts the signal, whoever had it already', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const { signal } = held;
  expect(held.signal).toBe(signal);
  expect(await held.verify()).toBe(true);
  expect(signal.aborted).toBe(false);
  rmSync(lock.lockPath);
  expect(await held.verify()).toBe(false);
  expect(signal.reason).toMatchObject({ code: 'ERR_LOCK_LOST', reason: 'removed' });
  expect(held.verifySync()).toBe(false);
  expect(held.released).toBe(false);
  expect(await held.release()).toBe(false);
});

test('a released lock is not ours, and was not lost', async () => {
  const held = await new BucketLock(temp.directory()).acquire();
  await held.release();
  expect(await held.verify()).toBe(false);
  expect(held.verifySync()).toBe(false);
  expect(held.signal.aborted).toBe(false);
});

test('a verify that meets a release does not take it for a loss', async () => {
  const held = await new BucketLock(temp.directory()).acquire();
  const verdict = held.verify();
  expect(held.releaseSync()).toBe(true);
  expect(await verdict).toBe(false);
  expect(held.signal.aborted).toBe(false);
});

test('both kinds of disposal release, and a lost lock is no error to them', async () => {
  const lock = new BucketLock(temp.directory());
  const first = await lock.acquire();
  await first[Symbol.asyncDispose]();
  expect(first.released).toBe(true);
  const second = lock.acquireSync();
  second[Symbol.dispose]();
  expect(second.released).toBe(true);
  const third = await lock.acquire();
  rmSync(lock.lockPath);
  await third[Symbol.asyncDispose]();
  expect(third.released).toBe(true);
});

const refusal: NativeRelease = {
  outcome: 'failed',
  errno: -5,
  syscall: 'unlink',
  path: '/a/.lock',
};

const blocked: NativeRelease = {
  outcome: 'blocked',
  errno: -constants.errno.EBUSY,
  syscall: 'unlink',
  path: '/a/.lock',
};

/** A hold on an addon that answers its releases so: the system refuses when it likes, not when a test does. */
function holdWith(answers: NativeRelease[]) {
  const next = (): NativeRelease => answers.shift() ?? refusal;
  const addon: NativeAddon = {
    ...loadAddon(),
    release: () => Promise.resolve(next()),
    releaseSync: next,
  };
  const ends = { releaseRetryMs: 100, onLost: vi.fn(), onReleased: vi.fn() };
  const acquired = { outcome: 'acquired', hold: 1, token: 'abc' } as const;
  return { held: new HeldBucket(addon, '/a', acquired, ends), ends };
}

test('a release that the system refuses rejects, and the lock stays held', async () => {
  const { held, ends } = holdWith([refusal, { outcome: 'released' }]);
  const both = await Promise.allSettled([held.release(), held.release()]);
  for (const { status, ...rest } of both) {
    expect(status).toBe('rejected');
    expect(rest).toMatchObject({ reason: { code: 'EIO', syscall: 'unlink', path: '/a/.lock' } });
  }
  expect(held.released).toBe(false);
  expect(ends.onReleased).not.toHaveBeenCalled();
  expect(await held.release()).toBe(true);
  expect(ends.onReleased).toHaveBeenCalledOnce();
});

test('a release that is overtaken on the calling thread ends the hold once', async () => {
  const { held, ends } = holdWith([{ outcome: 'released' }, { outcome: 'released' }]);
  const pending = held.release();
  expect(held.releaseSync()).toBe(true);
  expect(await pending).toBe(true);
  expect(ends.onReleased).toHaveBeenCalledOnce();
});

test('a release that the system refuses on the calling thread throws, and the lock stays held', () => {
  const { held, ends } = holdWith([refusal, { outcome: 'released' }]);
  expect(() => held.releaseSync()).toThrow(expect.objectContaining({ code: 'EIO' }) as Error);
  expect(held.released).toBe(false);
  expect(held.releaseSync()).toBe(true);
  expect(ends.onReleased).toHaveBeenCalledOnce();
});

const releases = {
  release: (held: HeldBucket) => held.release(),
  releaseSync: (held: HeldBucket) => Promise.resolve().then(() => held.releaseSync()),
};

test.for(Object.entries(releases))(
  '%s waits for whoever keeps the lockfile open',
  async ([, release]) => {
    const { held, ends } = holdWith([blocked, blocked, { outcome: 'released' }]);
    expect(await release(held)).toBe(true);
    expect(ends.onReleased).toHaveBeenCalledOnce();
  },
);

test.for(Object.entries(releases))(
  '%s gives up after releaseRetryMs, and the lock stays held',
  async ([, release]) => {
    const answers: NativeRelease[] = Array.from({ length: 1_000 }, () => blocked);
    const { held, ends } = holdWith(answers);
    await expect(release(held)).rejects.toMatchObject({
      code: 'ERR_LOCK_RELEASE_BLOCKED',
      path: '/a',
      cause: { code: 'EBUSY', syscall: 'unlink', path: '/a/.lock' },
    });
    expect(held.released).toBe(false);
    expect(ends.onReleased).not.toHaveBeenCalled();
    answers.splice(0, Infinity, { outcome: 'released' });
    expect(await release(held)).toBe(true);
    expect(ends.onReleased).toHaveBeenCalledOnce();
  },
);
