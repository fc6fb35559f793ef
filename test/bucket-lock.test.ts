import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test, vi } from 'vitest';

import { BucketLock } from '../lib/bucket-lock.js';
import { isBucketBusyError, isBucketValidationError } from '../lib/error-guards.js';
import type { LockReport } from '../lib/lock.js';
import { exitListeners } from './helpers/exit-listeners.js';
import { mustBlock, mustEnd } from './helpers/must-block.js';
import { reasonOf } from './helpers/reason-of.js';
import { useTempDir } from './helpers/temp-dir.js';
import { until } from './helpers/until.js';

const temp = useTempDir();

test('acquire takes the lock, and release gives it back', async () => {
  const bucket = temp.directory();
  const lock = new BucketLock(bucket);
  const held = await lock.acquire();
  expect(held).toMatchObject({ path: bucket, released: false });
  expect(held.token).toMatch(/^[0-9a-f]{32}$/);
  expect(existsSync(lock.lockPath)).toBe(true);
  expect(await held.verify()).toBe(true);
  expect(await lock.tryAcquire()).toBeNull();
  expect(await held.release()).toBe(true);
  expect(existsSync(lock.lockPath)).toBe(false);
  expect(held).toMatchObject({ released: true });
  const next = await lock.tryAcquire();
  expect(next?.token).not.toBe(held.token);
  await next?.release();
});

test('the lock object names the bucket by its absolute path and touches nothing', () => {
  const missing = join(temp.path, 'none', 'orders');
  const lock = new BucketLock(pathToFileURL(missing));
  expect(lock).toMatchObject({
    path: missing,
    bucketId: 'orders',
    lockPath: join(missing, '.lock'),
  });
  expect(existsSync(missing)).toBe(false);
});

test('inspect tells who holds it, since when and why', async () => {
  const lock = new BucketLock(temp.directory(), { label: 'default' });
  expect(await lock.inspect()).toEqual({ state: 'free' });
  const before = Date.now();
  const held = await lock.acquire({ label: 'nightly import' });
  const report = await lock.inspect();
  expect(report).toMatchObject({
    state: 'held',
    evidence: 'guard',
    pid: process.pid,
    thisProcess: true,
    label: 'nightly import',
    token: held.token,
  });
  expect(report.since?.getTime()).toBeGreaterThanOrEqual(before - 1);
  expect(report.since?.getTime()).toBeLessThanOrEqual(Date.now());
  expect(lock.inspectSync()).toEqual(report);
  await held.release();
  const again = await lock.acquire();
  expect(await lock.inspect()).toMatchObject({ label: 'default' });
  await again.release();
});

test('a missing bucket is free and inspect does not make it; acquire does, unless told not to', async () => {
  const missing = join(temp.path, 'missing');
  const strict = new BucketLock(missing, { create: false });
  const reason = await reasonOf(strict.acquire());
  expect(isBucketValidationError(reason)).toBe(true);
  expect(reason).toMatchObject({ reason: 'bucket_dir_missing', path: missing });
  expect(await strict.inspect()).toEqual({ state: 'free' });
  expect(existsSync(missing)).toBe(false);
  await (await new BucketLock(missing).acquire()).release();
  expect(existsSync(missing)).toBe(true);
});

test('a bucket whose parent is missing is a system error with the words of Node.js', async () => {
  const bucket = join(temp.path, 'no', 'parent');
  const reason = await reasonOf(new BucketLock(bucket).acquire());
  expect(reason).toMatchObject({ code: 'ENOENT', syscall: 'mkdir', path: bucket });
  expect((reason as NodeJS.ErrnoException).errno).toBeLessThan(0);
});

test('mode sets the permissions of the lockfile past the umask', async () => {
  const lock = new BucketLock(temp.directory(), { mode: 0o666 });
  const held = await lock.acquire();
  expect(statSync(lock.lockPath).mode & 0o777).toBe(0o666);
  await held.release();
});

test('without a wait a held lock is busy at once, and the message says how to wait', async () => {
  const lock = new BucketLock(temp.directory());
  const onWait = vi.fn();
  const held = await lock.acquire();
  const reason = await reasonOf(lock.acquire({ waitMs: 0, onWait }));
  expect(isBucketBusyError(reason)).toBe(true);
  expect(reason).toMatchObject({
    bucketId: lock.bucketId,
    holdingPid: process.pid,
    waitedMs: 0,
    report: { token: held.token },
  });
  expect((reason as Error).message).toContain('Pass waitMs to wait.');
  expect(onWait).not.toHaveBeenCalled();
  await held.release();
});

test('a wait ends with the lock when its holder lets go', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const pending = lock.acquire({ waitMs: Infinity });
  const mustEndNow = await mustBlock('the second acquire', pending);
  await held.release();
  const next = await mustEndNow();
  expect(await next.verify()).toBe(true);
  await next.release();
});

test('a wait ends busy at its deadline, and not before', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const start = performance.now();
  const reason = await reasonOf(lock.acquire({ waitMs: 60 }));
  expect(performance.now() - start).toBeGreaterThanOrEqual(60);
  expect(isBucketBusyError(reason)).toBe(true);
  expect(reason).toMatchObject({ report: { token: held.token } });
  expect((reason as { waitedMs: number }).waitedMs).toBeGreaterThanOrEqual(60);
  await held.release();
});

test('a wait that ends behind another one still knows the holder', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const first = lock.acquire({ waitMs: Infinity });
  const mustEndNow = await mustBlock('the first wait', first);
  const reason = await reasonOf(lock.acquire({ waitMs: 60 }));
  expect(reason).toMatchObject({ code: 'ERR_BUCKET_BUSY', report: { token: held.token } });
  await held.release();
  await (await mustEndNow()).release();
});

test('a deadline that passes during onWait ends the acquire, which knows the holder', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const onWait = (): void => {
    const end = performance.now() + 40;
    while (performance.now() < end);
  };
  const reason = await reasonOf(lock.acquire({ waitMs: 30, onWait }));
  expect(reason).toMatchObject({ code: 'ERR_BUCKET_BUSY', report: { token: held.token } });
  await held.release();
});

test('a wait longer than a timer can sleep does not end at once', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const mustEndNow = await mustBlock('the wait', lock.acquire({ waitMs: 2 ** 31 + 5 }));
  await held.release();
  await (await mustEndNow()).release();
});

test('onWait is told the holder once, before the wait, and only if there is one', async () => {
  const lock = new BucketLock(temp.directory());
  const told: LockReport[] = [];
  const onWait = (holder: LockReport): void => void told.push(holder);
  const held = await lock.acquire({ onWait, label: 'first' });
  expect(told).toHaveLength(0);
  const pending = lock.acquire({ onWait });
  const mustEndNow = await mustBlock('the wait', pending);
  await held.release();
  await (await mustEndNow()).release();
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ state: 'held', label: 'first', token: held.token });
});

test('an onWait that throws rejects the acquire, which then holds nothing', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const broken = new Error('onWait');
  const onWait = (): never => {
    throw broken;
  };
  expect(await reasonOf(lock.acquire({ onWait }))).toBe(broken);
  await held.release();
  expect(await lock.inspect()).toEqual({ state: 'free' });
});

test('an aborted signal rejects with its reason before anything is touched', async () => {
  const bucket = join(temp.path, 'aborted');
  const lock = new BucketLock(bucket);
  const reason = { why: 'not an error' };
  const signal = AbortSignal.abort(reason);
  expect(await reasonOf(lock.acquire({ signal }))).toBe(reason);
  expect(await reasonOf(lock.tryAcquire({ signal }))).toBe(reason);
  expect(await reasonOf(lock.with(() => undefined, { signal }))).toBe(reason);
  expect(existsSync(bucket)).toBe(false);
});

test('an abort ends a wait at once with its reason, and leaves the line', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const controller = new AbortController();
  const pending = reasonOf(lock.acquire({ signal: controller.signal, waitMs: Infinity }));
  await mustBlock('the wait', pending);
  const reason = new Error('enough');
  controller.abort(reason);
  expect(await mustEnd('the aborted wait', pending)).toBe(reason);
  await held.release();
  const next = await lock.tryAcquire();
  expect(next).not.toBeNull();
  await next?.release();
});

test('an abort by onWait ends the acquire before it waits', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const controller = new AbortController();
  const onWait = (): void => {
    controller.abort('enough');
  };
  const options = { signal: controller.signal, onWait, waitMs: Infinity };
  expect(await mustEnd('the acquire', reasonOf(lock.acquire(options)))).toBe('enough');
  await held.release();
});

test('tryAcquire never waits, whatever the defaults', async () => {
  const onWait = vi.fn();
  const lock = new BucketLock(temp.directory(), { waitMs: Infinity, onWait });
  const held = await lock.acquire();
  expect(await lock.tryAcquire()).toBeNull();
  expect(await lock.tryAcquire({ waitMs: Infinity })).toBeNull();
  expect(lock.tryAcquireSync({ waitMs: Infinity })).toBeNull();
  expect(onWait).not.toHaveBeenCalled();
  await held.release();
});

test('arguments that are no use reject, and nothing is acquired', async () => {
  const lock = new BucketLock(temp.directory());
  const invalid = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  expect(await reasonOf(lock.acquire({ waitMs: '5' as never }))).toMatchObject(invalid);
  expect(await reasonOf(lock.with('body' as never))).toMatchObject(invalid);
  expect(() => lock.withSync(undefined as never)).toThrow(
    expect.objectContaining(invalid) as Error,
  );
  expect(existsSync(lock.lockPath)).toBe(false);
});

test("a directory in the lockfile's place is a validation error, for inspect too", async () => {
  const lock = new BucketLock(temp.directory());
  mkdirSync(lock.lockPath);
  for (const reason of [await reasonOf(lock.acquire()), await reasonOf(lock.inspect())]) {
    expect(reason).toMatchObject({ code: 'ERR_BUCKET_INVALID', reason: 'lockfile_not_regular' });
  }
});

test("no listener of ours stays when nothing is held, on the process or the caller's signal", async () => {
  const { signal } = new AbortController();
  const listen = vi.spyOn(signal, 'addEventListener');
  const forget = vi.spyOn(signal, 'removeEventListener');
  const lock = new BucketLock(temp.directory(), { signal });
  const held = await lock.acquire();
  expect(isBucketBusyError(await reasonOf(lock.acquire({ waitMs: 20 })))).toBe(true);
  expect(exitListeners()).toBe(1);
  await held.release();
  await until('nobody listens', () => exitListeners() === 0);
  expect(listen).toHaveBeenCalled();
  expect(forget.mock.calls).toEqual(listen.mock.calls);
});
