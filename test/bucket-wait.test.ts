import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { BucketLock } from '../lib/bucket-lock.js';
import { attempt, waitInLine } from '../lib/bucket-wait.js';
import { Deadline } from '../lib/deadline.js';
import { loadAddon } from '../lib/native.js';
import type { NativeAddon, NativeAttempt, NativeBucketSpec, NativeRelease } from '../lib/native.js';
import { useTempDir } from './helpers/temp-dir.js';
import { requireTool } from './helpers/tools.js';

const temp = useTempDir();

const spec: NativeBucketSpec = {
  directory: '/a',
  mode: 0o600,
  create: true,
  recordFormat: 'full',
  trustKernelLocks: false,
  label: undefined,
};
const granted: NativeAttempt = { outcome: 'acquired', hold: 7, token: 'abc' };
const busy: NativeAttempt = { outcome: 'busy', report: { state: 'held' } };
const reason = new Error('enough');

/** An addon whose answers come when the test says so: for meetings that no real one can stage. */
function scripted(release: NativeRelease = { outcome: 'released' }) {
  let answer: (outcome: NativeAttempt) => void = () => undefined;
  const pending = new Promise<NativeAttempt>((resolve) => (answer = resolve));
  const calls = {
    cancelWait: vi.fn<(request: number) => NativeAttempt>(),
    release: vi.fn(() => Promise.resolve(release)),
  };
  const addon: NativeAddon = {
    ...loadAddon(),
    ...calls,
    bucketAttempt: () => pending,
    bucketWait: () => ({ request: 3, settled: pending }),
  };
  return { addon, answer, ...calls };
}

function endless(): Deadline {
  return new Deadline(Infinity);
}

test('an abort rejects while the first attempt is still queued, and its late grant is given back', async (context) => {
  requireTool(context, 'mkfifo');
  const fifo = join(temp.path, 'fifo');
  execFileSync('mkfifo', [fifo]);
  // Opening a FIFO for reading blocks: as many as the pool has threads keep everything else out.
  const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);
  const blocked = Array.from({ length: threads }, () => open(fifo, 'r'));
  const lock = new BucketLock(temp.directory());
  const controller = new AbortController();
  const listeners = process.listenerCount('exit');
  try {
    const acquiring = lock.acquire({ signal: controller.signal });
    controller.abort(reason);
    await expect(acquiring).rejects.toBe(reason);
    expect(lock.inspectSync()).toEqual({ state: 'free' });
  } finally {
    const writer = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    for (const handle of await Promise.all(blocked)) await handle.close();
    closeSync(writer);
  }
  // The pool comes to this attempt after the aborted one: it succeeds once that is given back.
  await (await lock.acquire({ waitMs: 30_000 })).release();
  expect(process.listenerCount('exit')).toBe(listeners);
  // And this thread has no claim left that would refuse a synchronous wait.
  writeFileSync(lock.lockPath, `${process.ppid}\n`);
  expect(() => lock.acquireSync({ waitMs: 20 })).toThrow(
    expect.objectContaining({ code: 'ERR_BUCKET_BUSY' }) as Error,
  );
});

test('what a late grant leaves behind is reported as a warning', async () => {
  const refusal = { outcome: 'failed', errno: -5, syscall: 'unlink', path: '/a/.lock' } as const;
  const { addon, answer, release } = scripted(refusal);
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const controller = new AbortController();
  const attempting = attempt(addon, spec, controller.signal);
  controller.abort(reason);
  await expect(attempting).rejects.toBe(reason);
  answer(granted);
  await vi.waitFor(() => {
    expect(warned).toHaveBeenCalledOnce();
  });
  expect(release).toHaveBeenCalledExactlyOnceWith(7);
  expect(warned.mock.calls[0]?.[0]).toMatchObject({ code: 'EIO', syscall: 'unlink' });
  warned.mockRestore();
});

test('a grant that is in the way when the deadline passes is taken', async () => {
  const { addon, cancelWait, release } = scripted();
  cancelWait.mockReturnValue(granted);
  expect(await waitInLine(addon, spec, new Deadline(1), undefined)).toBe(granted);
  expect(cancelWait).toHaveBeenCalledExactlyOnceWith(3);
  expect(release).not.toHaveBeenCalled();
});

test('a deadline without a grant answers why it is busy', async () => {
  const { addon, cancelWait } = scripted();
  cancelWait.mockReturnValue(busy);
  expect(await waitInLine(addon, spec, new Deadline(1), undefined)).toBe(busy);
});

test('a grant that is in the way of an abort is given back', async () => {
  const { addon, cancelWait, release } = scripted();
  cancelWait.mockReturnValue(granted);
  const controller = new AbortController();
  const waiting = waitInLine(addon, spec, endless(), controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(release).toHaveBeenCalledExactlyOnceWith(7);
});

test('a grant that was delivered in the same turn is given back, and no wait is cancelled', async () => {
  const { addon, answer, cancelWait, release } = scripted();
  const controller = new AbortController();
  const waiting = waitInLine(addon, spec, endless(), controller.signal);
  answer(granted);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(release).toHaveBeenCalledExactlyOnceWith(7);
  expect(cancelWait).not.toHaveBeenCalled();
});

test('a wait that is granted leaves no timer behind', async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const { addon, answer } = scripted();
  const waiting = waitInLine(addon, spec, new Deadline(3_600_000), undefined);
  expect(timers()).toBe(before + 1);
  answer(granted);
  expect(await waiting).toBe(granted);
  expect(timers()).toBe(before);
});
