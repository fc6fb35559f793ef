import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';
import type { TestContext } from 'vitest';

import { BucketLock } from '../lib/bucket-lock.js';
import { attempt, beginAttempt, waitInLine } from '../lib/bucket-wait.js';
import type { BucketRequest } from '../lib/bucket-wait.js';
import { Deadline } from '../lib/deadline.js';
import { loadAddon } from '../lib/native.js';
import type { NativeAddon, NativeAttempt, NativeRelease } from '../lib/native.js';
import { exitListeners } from './helpers/exit-listeners.js';
import { mustEnd } from './helpers/must-block.js';
import { useTempDir } from './helpers/temp-dir.js';
import { requireTool } from './helpers/tools.js';
import { spinUntil, until } from './helpers/until.js';

const temp = useTempDir();

function requestFor(directory: string): BucketRequest {
  const spec = loadAddon().bucketSpec(directory, 0o600, true, 'full', false);
  return { directory, spec, label: undefined, inTurn: true };
}

const request = requestFor('/a');
const granted: NativeAttempt = { outcome: 'acquired', hold: 7, token: 'abc' };
const busy: NativeAttempt = { outcome: 'busy', report: { state: 'held' } };
const before = { kept: 2, attempted: true };
const reason = new Error('enough');

/** An addon whose answers come when the test says so: for meetings that no real one can stage. */
function scripted(release: NativeRelease = { outcome: 'released' }) {
  let answer: (outcome: NativeAttempt | undefined) => void = () => undefined;
  const settled = new Promise<NativeAttempt | undefined>((resolve) => (answer = resolve));
  const calls = {
    cancelAttempt: vi.fn<(request: number) => void>(),
    cancelWait: vi.fn<(request: number) => NativeAttempt>(),
    release: vi.fn(() => Promise.resolve(release)),
  };
  const addon: NativeAddon = {
    ...loadAddon(),
    ...calls,
    bucketAttempt: () => ({ request: 2, settled }),
    bucketWait: () => ({ request: 3, settled }),
  };
  return { addon, answer, ...calls };
}

function endless(): Deadline {
  return new Deadline(Infinity);
}

/** Keeps every thread of libuv's pool busy until the function that it answers is called. */
function blockPool(context: TestContext): () => Promise<void> {
  requireTool(context, 'mkfifo');
  const fifo = join(temp.directory('pool'), 'fifo');
  execFileSync('mkfifo', [fifo]);
  // Opening a FIFO for reading blocks until somebody writes.
  const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);
  const blocked = Array.from({ length: threads }, () => open(fifo, 'r'));
  return async () => {
    const writer = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    for (const handle of await Promise.all(blocked)) await handle.close();
    closeSync(writer);
  };
}

async function whilePoolBlocked(context: TestContext, work: () => Promise<void>): Promise<void> {
  const unblock = blockPool(context);
  try {
    await mustEnd('the work', work());
  } finally {
    await unblock();
  }
}

/** A bucket that somebody else holds until its lockfile is removed. */
function heldBucket(): BucketLock {
  const lock = new BucketLock(temp.directory());
  writeFileSync(lock.lockPath, `${process.ppid}\n`);
  return lock;
}

test('an abort rejects while the first attempt is still queued, and nothing of it is left', async (context) => {
  const lock = new BucketLock(temp.directory());
  const controller = new AbortController();
  await whilePoolBlocked(context, async () => {
    const acquiring = lock.acquire({ signal: controller.signal });
    controller.abort(reason);
    await expect(acquiring).rejects.toBe(reason);
    expect(lock.inspectSync()).toEqual({ state: 'free' });
  });
  // The pool comes to this attempt after the aborted one.
  expect(await lock.inspect()).toEqual({ state: 'free' });
  await until('no exit waits', () => exitListeners() === 0);
});

test('an aborted acquire is no obstacle to a synchronous wait right after it', async (context) => {
  const lock = heldBucket();
  await whilePoolBlocked(context, async () => {
    const controller = new AbortController();
    const acquiring = lock.acquire({ signal: controller.signal });
    controller.abort(reason);
    await expect(acquiring).rejects.toBe(reason);
    const onWait = () => {
      unlinkSync(lock.lockPath);
    };
    lock.acquireSync({ waitMs: 5_000, onWait }).releaseSync();
  });
});

test('a blocked pool does not keep a free bucket from being acquired within its deadline', async (context) => {
  const lock = new BucketLock(temp.directory());
  await whilePoolBlocked(context, async () => {
    const held = await lock.acquire({ waitMs: 5_000 });
    expect(lock.inspectSync()).toMatchObject({ state: 'held', thisProcess: true });
    expect(held.releaseSync()).toBe(true);
  });
});

test('a blocked pool does not keep a held bucket from being busy at the deadline', async (context) => {
  const lock = heldBucket();
  await whilePoolBlocked(context, async () => {
    await expect(lock.acquire({ waitMs: 200 })).rejects.toMatchObject({
      name: 'BucketBusyError',
      holdingPid: process.ppid,
    });
  });
});

test('a blocked pool does not keep a missing bucket from being made', async (context) => {
  const made = new BucketLock(join(temp.directory(), 'new'));
  const missing = new BucketLock(join(temp.directory(), 'new'), { create: false });
  await whilePoolBlocked(context, async () => {
    (await made.acquire({ waitMs: 5_000 })).releaseSync();
    await expect(missing.acquire({ waitMs: 5_000 })).rejects.toMatchObject({
      reason: 'bucket_dir_missing',
    });
  });
  expect(readdirSync(made.path)).toEqual([]);
});

test('an attempt that is cancelled once it has won is released, though the loop does not turn', async () => {
  const addon = loadAddon();
  const directory = temp.directory();
  const lockfile = join(directory, '.lock');
  const { request: id, settled } = addon.bucketAttempt(requestFor(directory).spec, undefined, true);
  spinUntil(() => existsSync(lockfile));
  addon.cancelAttempt(id);
  spinUntil(() => !existsSync(lockfile));
  expect(await settled).toEqual({ outcome: 'busy', report: { state: 'free' } });
});

test('an attempt that the pool does not come to in time is cancelled, and brings nothing', async () => {
  const { addon, answer, cancelAttempt, release } = scripted();
  expect(await attempt(addon, request, beginAttempt(addon, request), undefined, 1)).toBeUndefined();
  expect(cancelAttempt).toHaveBeenCalledExactlyOnceWith(2);
  answer(undefined);
  expect(release).not.toHaveBeenCalled();
});

test('an aborted attempt that is still under way is cancelled', async () => {
  const { addon, answer, cancelAttempt, release } = scripted();
  const controller = new AbortController();
  const attempting = attempt(addon, request, beginAttempt(addon, request), controller.signal);
  controller.abort(reason);
  await expect(attempting).rejects.toBe(reason);
  expect(cancelAttempt).toHaveBeenCalledExactlyOnceWith(2);
  answer(undefined);
  expect(release).not.toHaveBeenCalled();
});

test('what a grant in the same turn as an abort leaves behind is reported as a warning', async () => {
  const refusal = { outcome: 'failed', errno: -5, syscall: 'unlink', path: '/a/.lock' } as const;
  const { addon, answer, cancelAttempt, release } = scripted(refusal);
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const controller = new AbortController();
  const attempting = attempt(addon, request, beginAttempt(addon, request), controller.signal);
  answer(granted);
  controller.abort(reason);
  await expect(attempting).rejects.toBe(reason);
  await vi.waitFor(() => {
    expect(warned).toHaveBeenCalledOnce();
  });
  expect(cancelAttempt).not.toHaveBeenCalled();
  expect(release).toHaveBeenCalledExactlyOnceWith(7);
  expect(warned.mock.calls[0]?.[0]).toMatchObject({ code: 'EIO', syscall: 'unlink' });
  warned.mockRestore();
});

test('a cancelled wait settles: a promise that never did would be kept for ever', async () => {
  const addon = loadAddon();
  const wait = addon.bucketWait(requestFor(heldBucket().path).spec, undefined, true, 0);
  expect(addon.cancelWait(wait.request)).toMatchObject({ outcome: 'busy' });
  expect(await wait.settled).toBeUndefined();
});

test('whoever stands behind another in line is busy as well at its deadline', async () => {
  const lock = heldBucket();
  const controller = new AbortController();
  await new Promise<void>((onWait) => {
    lock
      .acquire({
        signal: controller.signal,
        onWait: () => {
          onWait();
        },
      })
      .catch(() => undefined);
  });
  await expect(lock.acquire({ waitMs: 50 })).rejects.toMatchObject({
    name: 'BucketBusyError',
    holdingPid: process.ppid,
  });
  controller.abort(reason);
});

test('however many acquires wait for one signal, it has one listener and nothing is printed', async () => {
  const lock = heldBucket();
  const controller = new AbortController();
  const { signal } = controller;
  const warned = vi.spyOn(process, 'emitWarning');
  let waiting = 0;
  const onWait = () => (waiting += 1);
  const acquiring = Array.from({ length: 20 }, () => lock.acquire({ signal, onWait }));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await until('all wait in line', () => waiting === 20);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  controller.abort(reason);
  for (const { status, ...ended } of await Promise.allSettled(acquiring)) {
    expect({ status, ...ended }).toEqual({ status: 'rejected', reason });
  }
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
});

test('a grant that is in the way when the deadline passes is taken', async () => {
  const { addon, cancelWait, release } = scripted();
  cancelWait.mockReturnValue(granted);
  expect(await waitInLine(addon, request, before, new Deadline(1), undefined)).toBe(granted);
  expect(cancelWait).toHaveBeenCalledExactlyOnceWith(3);
  expect(release).not.toHaveBeenCalled();
});

test('a deadline without a grant answers why it is busy', async () => {
  const { addon, cancelWait } = scripted();
  cancelWait.mockReturnValue(busy);
  expect(await waitInLine(addon, request, before, new Deadline(1), undefined)).toBe(busy);
});

test('a grant that is in the way of an abort is given back', async () => {
  const { addon, cancelWait, release } = scripted();
  cancelWait.mockReturnValue(granted);
  const controller = new AbortController();
  const waiting = waitInLine(addon, request, before, endless(), controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(release).toHaveBeenCalledExactlyOnceWith(7);
});

test('a grant that was delivered in the same turn is given back, and no wait is cancelled', async () => {
  const { addon, answer, cancelWait, release } = scripted();
  const controller = new AbortController();
  const waiting = waitInLine(addon, request, before, endless(), controller.signal);
  answer(granted);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(release).toHaveBeenCalledExactlyOnceWith(7);
  expect(cancelWait).not.toHaveBeenCalled();
});

test('a wait that is granted leaves no timer behind', async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const earlier = timers();
  const { addon, answer } = scripted();
  const waiting = waitInLine(addon, request, before, new Deadline(3_600_000), undefined);
  expect(timers()).toBe(earlier + 1);
  answer(granted);
  expect(await waiting).toBe(granted);
  expect(timers()).toBe(earlier);
});
