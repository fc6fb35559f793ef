import { setImmediate as turn } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { namedLock } from '../lib/named-lock.js';
import { loadAddon } from '../lib/native.js';
import { mustEnd } from './helpers/must-block.js';
import { reasonOf } from './helpers/reason-of.js';

const reentry = expect.objectContaining({ code: 'ERR_LOCK_REENTRY' }) as Error;
const busy = expect.objectContaining({ code: 'ERR_LOCK_BUSY' }) as Error;

let made = 0;

function freshLock() {
  made += 1;
  return namedLock(`fresh-sync-${made}`);
}

test('a free lock is acquired and released on the calling thread', () => {
  const lock = freshLock();
  const held = lock.acquireSync({ label: 'sync' });
  expect(lock.inspectSync()).toMatchObject({ state: 'held', label: 'sync', token: held.token });
  expect(lock.tryAcquireSync()).toBeNull();
  expect(held.releaseSync()).toBe(true);
  const again = lock.tryAcquireSync();
  expect(again?.name).toBe(lock.name);
  again?.releaseSync();
});

test('a synchronous acquire that does not wait is busy at once', () => {
  const lock = freshLock();
  const held = lock.acquireSync();
  expect(() => lock.acquireSync({ waitMs: 0 })).toThrow(busy);
  held.releaseSync();
});

test('a synchronous wait for what this thread holds is refused at once', async () => {
  const lock = freshLock();
  const held = lock.acquireSync();
  const onWait = vi.fn();
  expect(() => lock.acquireSync({ waitMs: Infinity, onWait })).toThrow(reentry);
  expect(onWait).not.toHaveBeenCalled();
  expect(() => {
    lock.withSync(() => undefined, { waitMs: Infinity });
  }).toThrow(reentry);
  held.releaseSync();
  const other = await lock.acquire();
  expect(() => lock.acquireSync({ waitMs: Infinity })).toThrow(reentry);
  other.releaseSync();
  lock.acquireSync({ waitMs: Infinity }).releaseSync();
});

test('a synchronous wait for what this thread was granted and has not seen is refused too', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const pending = lock.acquire();
  held.releaseSync();
  expect(() => lock.acquireSync({ waitMs: Infinity })).toThrow(reentry);
  (await pending).releaseSync();
});

test('detached opts out, and what this thread awaits is passed over and keeps its place', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const order: string[] = [];
  const waiting = ['first', 'second'].map(async (name) => {
    const mine = await lock.acquire({ waitMs: Infinity });
    order.push(name);
    mine.releaseSync();
  });
  held.releaseSync();
  // Granted to the first, which cannot take it while this thread is blocked.
  const mine = lock.acquireSync({ waitMs: Infinity, detached: true });
  order.push('sync');
  mine.releaseSync();
  await mustEnd('the others', Promise.all(waiting));
  expect(order).toEqual(['sync', 'first', 'second']);
});

test('a detached synchronous wait for what this thread holds ends by its deadline', () => {
  const lock = freshLock();
  const held = lock.acquireSync();
  expect(() => lock.acquireSync({ waitMs: 120, detached: true })).toThrow(busy);
  held.releaseSync();
});

test('a grant that was passed over again is awaited anew, or ends by its deadline or abort', async () => {
  const lock = freshLock();
  const controller = new AbortController();
  const reason = new Error('enough');
  const held = await lock.acquire();
  const waiting = [
    lock.acquire({ waitMs: Infinity, signal: controller.signal }),
    lock.acquire({ waitMs: 30 }),
    lock.acquire({ waitMs: Infinity }),
  ] as const;
  held.releaseSync();
  const mine = lock.acquireSync({ waitMs: Infinity, detached: true });
  await turn();
  expect(await reasonOf(waiting[1])).toMatchObject({ code: 'ERR_LOCK_BUSY' });
  controller.abort(reason);
  expect(await reasonOf(waiting[0])).toBe(reason);
  mine.releaseSync();
  (await mustEnd('the third', waiting[2])).releaseSync();
});

test('the addon forgets a claim that is released, and a promise for it settles', async () => {
  const addon = loadAddon();
  const held = addon.namedAttempt('forgotten', undefined) as number;
  const claim = addon.namedWait('forgotten', undefined);
  const granted = addon.namedGranted(claim);
  expect(addon.namedTake(claim)).toBe(false);
  expect(addon.namedHolder(claim)).toMatchObject({ claim: held });
  expect([addon.namedRelease(claim), addon.namedRelease(claim)]).toEqual([true, false]);
  await mustEnd('the promise', granted);
  await mustEnd('a promise for nothing', addon.namedGranted(claim));
  expect(addon.namedTake(claim)).toBe(false);
  expect(addon.namedHolder(claim)).toBeUndefined();
  expect(addon.namedWaitSlice(claim, 50)).toBe(false);
  expect(addon.namedRelease(held)).toBe(true);
  expect(addon.namedInspect('forgotten')).toBeUndefined();
});
