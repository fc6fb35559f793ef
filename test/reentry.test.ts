import type { AsyncLocalStorage } from 'node:async_hooks';
import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { withLock, withLockSync } from '../lib/bucket-functions.js';
import { BucketLock } from '../lib/bucket-lock.js';
import { mustBlock, mustEnd } from './helpers/must-block.js';
import { useTempDir } from './helpers/temp-dir.js';

const temp = useTempDir();

const reentry = expect.objectContaining({ code: 'ERR_LOCK_REENTRY' }) as Error;
const busy = expect.objectContaining({ code: 'ERR_BUCKET_BUSY' }) as Error;
const nothing = (): void => undefined;

function twoSpellings(): { readonly lock: BucketLock; readonly sameLock: BucketLock } {
  const bucket = temp.directory();
  symlinkSync(bucket, `${bucket}-link`);
  const options = { waitMs: Infinity };
  return {
    lock: new BucketLock(bucket, options),
    sameLock: new BucketLock(`${bucket}-link`, options),
  };
}

test('with inside its own with is refused at once, by every spelling and face', async () => {
  const { lock, sameLock } = twoSpellings();
  await lock.with(async () => {
    for (const inner of [lock, sameLock]) {
      await expect(inner.with(nothing)).rejects.toThrow(reentry);
      await expect(inner.with(nothing, { waitMs: 0 })).rejects.toThrow(reentry);
      expect(() => {
        inner.withSync(nothing);
      }).toThrow(reentry);
      await expect(withLock(inner.path, nothing)).rejects.toThrow(reentry);
    }
  });
  lock.withSync(() => {
    expect(() => {
      withLockSync(sameLock.path, nothing);
    }).toThrow(reentry);
  });
  expect(lock.inspectSync()).toEqual({ state: 'free' });
});

test('a with deeper down, and with another lock between, is still inside', async () => {
  const { lock, sameLock } = twoSpellings();
  const other = new BucketLock(temp.directory());
  await lock.with(() =>
    other.with(async () => {
      await turn();
      await expect(sameLock.with(nothing)).rejects.toThrow(reentry);
    }),
  );
});

test('the same lock after the body, and beside it, is no re-entry', async () => {
  const { lock } = twoSpellings();
  const order: string[] = [];
  await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      lock.with(async () => {
        order.push(name);
        await turn();
        order.push(name);
      }),
    ),
  );
  expect(order.filter((name, index) => order[index + 1 - 2 * (index % 2)] !== name)).toEqual([]);
});

test('work that outlives the body may take the lock once it is free', async () => {
  const { lock } = twoSpellings();
  let later: Promise<string> | undefined;
  await lock.with((held) => {
    later = (async () => {
      while (!held.released) await turn();
      return lock.with(() => 'later');
    })();
  });
  expect(await later).toBe('later');
});

test('detached opts out: it waits, and gets the lock after the body', async () => {
  const { lock } = twoSpellings();
  let detached: Promise<string> | undefined;
  await lock.with(async () => {
    detached = lock.with(() => 'detached', { detached: true });
    await expect(lock.with(nothing, { detached: true, waitMs: 20 })).rejects.toThrow(busy);
  });
  if (detached === undefined) throw new Error('the body did not run');
  expect(await mustEnd('the detached with', detached)).toBe('detached');
});

test('a synchronous wait for what this thread holds is refused at once', async () => {
  const { lock, sameLock } = twoSpellings();
  const held = await lock.acquire();
  for (const same of [lock, sameLock]) {
    expect(() => same.acquireSync()).toThrow(reentry);
    expect(() => same.acquireSync({ waitMs: 0 })).toThrow(busy);
    expect(same.tryAcquireSync()).toBeNull();
    expect(() => same.acquireSync({ waitMs: 60, detached: true })).toThrow(busy);
  }
  await held.release();
  writeFileSync(lock.lockPath, `${process.ppid}\n`);
  expect(() => sameLock.acquireSync({ waitMs: 20 })).toThrow(busy);
});

test('what this thread has lost it does not hold: somebody else may be waited for', async () => {
  const { lock } = twoSpellings();
  const held = await lock.acquire();
  writeFileSync(`${lock.lockPath}.other`, `${process.ppid}\n`);
  renameSync(`${lock.lockPath}.other`, lock.lockPath);
  expect(() => lock.acquireSync()).toThrow(reentry);
  expect(await held.verify()).toBe(false);
  expect(() => lock.acquireSync({ waitMs: 20 })).toThrow(busy);
  expect(await held.release()).toBe(false);
});

test('a synchronous wait for what this thread waits for itself is refused too', async () => {
  const { lock, sameLock } = twoSpellings();
  writeFileSync(lock.lockPath, `${process.ppid}\n`);
  const controller = new AbortController();
  const pending = lock.acquire({ signal: controller.signal });
  expect(() => sameLock.acquireSync()).toThrow(reentry);
  await mustBlock('the asynchronous wait', pending);
  expect(() => sameLock.acquireSync()).toThrow(reentry);
  controller.abort(new Error('enough'));
  await expect(pending).rejects.toThrow('enough');
  expect(() => sameLock.acquireSync({ waitMs: 60 })).toThrow(busy);
});

test('another bucket is none of this', async () => {
  const { lock } = twoSpellings();
  const held = await lock.acquire();
  const other = new BucketLock(temp.directory());
  writeFileSync(other.lockPath, `${process.ppid}\n`);
  expect(() => other.acquireSync({ waitMs: 20 })).toThrow(busy);
  await held.release();
});

test('a chain of withs that start one another keeps no account of those that are over', async () => {
  const locks = [new BucketLock(temp.directory('a')), new BucketLock(temp.directory('b'))] as const;
  const around: number[] = [];
  const frames = (): readonly unknown[] => {
    const key = Symbol.for('bucketlock.frames.v2');
    return (Reflect.get(globalThis, key) as AsyncLocalStorage<readonly unknown[]>).getStore() ?? [];
  };
  const step = async (left: number): Promise<void> => {
    let next: Promise<void> = Promise.resolve();
    await locks[left % 2 === 0 ? 0 : 1].with(async () => {
      around.push(frames().length);
      // Begun inside, and over long after.
      next = turn().then(() => (left > 0 ? step(left - 1) : undefined));
      await turn();
    });
    await next;
  };
  await step(20);
  expect(around).toHaveLength(21);
  expect(Math.max(...around)).toBeLessThanOrEqual(2);
});
