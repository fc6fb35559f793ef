import { rmSync, writeFileSync } from 'node:fs';

import { expect, test, vi } from 'vitest';

import { BucketLock } from '../lib/bucket-lock.js';
import { useTempDir } from './helpers/temp-dir.js';

const temp = useTempDir();

test('the synchronous face does what the asynchronous one does', () => {
  const lock = new BucketLock(temp.directory());
  const held = lock.acquireSync({ label: 'sync' });
  expect(held.verifySync()).toBe(true);
  expect(lock.inspectSync()).toMatchObject({ state: 'held', label: 'sync', token: held.token });
  expect(lock.tryAcquireSync()).toBeNull();
  expect(() => lock.acquireSync({ waitMs: 0 })).toThrow(
    expect.objectContaining({ code: 'ERR_BUCKET_BUSY', waitedMs: 0 }) as Error,
  );
  expect(held.releaseSync()).toBe(true);
  expect(lock.withSync(() => lock.inspectSync().state)).toBe('held');
  expect(lock.inspectSync()).toEqual({ state: 'free' });
});

test('a synchronous wait ends busy at its deadline, and not before', () => {
  const lock = new BucketLock(temp.directory());
  // A record of a living process that is not this thread: nobody will remove it.
  writeFileSync(lock.lockPath, `${process.ppid}\n`);
  const start = performance.now();
  const onWait = vi.fn();
  expect(() => lock.acquireSync({ waitMs: 130, onWait })).toThrow(
    expect.objectContaining({ code: 'ERR_BUCKET_BUSY', holdingPid: process.ppid }) as Error,
  );
  expect(performance.now() - start).toBeGreaterThanOrEqual(130);
  expect(onWait).toHaveBeenCalledOnce();
});

test('an abort that another realm brings about ends a synchronous wait between two slices', () => {
  const lock = new BucketLock(temp.directory());
  writeFileSync(lock.lockPath, `${process.ppid}\n`);
  let asked = 0;
  const controller = new AbortController();
  const { signal } = controller;
  Object.defineProperty(signal, 'aborted', { get: () => (asked += 1) > 2 });
  const reason = new Error('enough');
  signal.throwIfAborted = () => {
    if (asked > 2) throw reason;
  };
  expect(() => lock.acquireSync({ waitMs: Infinity, signal })).toThrow(reason);
});

test('withSync releases whatever its body does, and refuses a promise', () => {
  const lock = new BucketLock(temp.directory());
  const thrown = new Error('body');
  expect(() =>
    lock.withSync(() => {
      throw thrown;
    }),
  ).toThrow(thrown);
  expect(() => lock.withSync(() => Promise.resolve())).toThrow(
    expect.objectContaining({
      name: 'TypeError',
      code: 'ERR_INVALID_RETURN_VALUE',
      message: 'expected what body returns to be no promise: withSync cannot wait for it',
    }) as Error,
  );
  expect(() => {
    lock.withSync(() => {
      rmSync(lock.lockPath);
    });
  }).toThrow(expect.objectContaining({ code: 'ERR_LOCK_LOST' }) as Error);
  expect(lock.inspectSync()).toEqual({ state: 'free' });
});
