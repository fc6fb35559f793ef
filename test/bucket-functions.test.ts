import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import {
  acquireLock,
  acquireLockSync,
  breakLock,
  breakLockSync,
  inspectLock,
  inspectLockSync,
  lockPath,
  releaseLock,
  releaseLockSync,
  withLock,
  withLockSync,
} from '../lib/bucket-functions.js';
import { BucketLock } from '../lib/bucket-lock.js';
import { useTempDir } from './helpers/temp-dir.js';

const temp = useTempDir();

const busyAfterNoWait = expect.objectContaining({ code: 'ERR_BUCKET_BUSY', waitedMs: 0 }) as Error;

test('acquireLock does not wait unless told to, and releaseLock gives back', async () => {
  const bucket = temp.directory();
  await acquireLock(bucket);
  await expect(acquireLock(bucket)).rejects.toThrow(busyAfterNoWait);
  await expect(acquireLock(bucket, { waitMs: undefined })).rejects.toThrow(busyAfterNoWait);
  await expect(withLock(bucket, () => undefined)).rejects.toThrow(busyAfterNoWait);
  expect(() => acquireLockSync(bucket)).toThrow(busyAfterNoWait);
  expect(() => withLockSync(bucket, () => 'ran')).toThrow(busyAfterNoWait);
  const waiting = acquireLock(bucket, { waitMs: 10_000 });
  expect(await releaseLock(bucket)).toBe(true);
  await waiting;
  expect(releaseLockSync(bucket)).toBe(true);
  expect(await releaseLock(bucket)).toBe(false);
});

test('releaseLock leaves alone what acquireLock has not taken', async () => {
  const bucket = temp.directory();
  const held = await new BucketLock(bucket).acquire();
  expect(await releaseLock(bucket)).toBe(false);
  expect(releaseLockSync(bucket)).toBe(false);
  expect(await held.verify()).toBe(true);
  await held.release();
});

test('releaseLock knows the lock by every spelling of the path', async () => {
  const bucket = temp.directory();
  const link = `${bucket}-link`;
  symlinkSync(bucket, link);
  const spellings = [bucket, `${bucket}/`, pathToFileURL(bucket), link, pathToFileURL(link)];
  for (const taken of spellings) {
    for (const released of spellings) {
      await acquireLock(taken);
      expect(await releaseLock(released)).toBe(true);
      acquireLockSync(taken);
      expect(releaseLockSync(released)).toBe(true);
    }
  }
});

test('releaseLock releases what it took though the bucket has another name by now', async () => {
  const bucket = temp.directory();
  await acquireLock(bucket);
  renameSync(bucket, `${bucket}-renamed`);
  expect(await releaseLock(bucket)).toBe(true);
  expect(await inspectLock(`${bucket}-renamed`)).toEqual({ state: 'free' });
});

test('releaseLock knows a lock by the link it was taken by though that leads nowhere now', async () => {
  const bucket = temp.directory();
  const link = `${bucket}-link`;
  symlinkSync(bucket, link);
  await acquireLock(link);
  renameSync(bucket, `${bucket}-renamed`);
  expect(await releaseLock(link)).toBe(true);
});

test('of two buckets that had the same name releaseLock takes the newest first', async () => {
  const bucket = temp.directory();
  await acquireLock(bucket);
  renameSync(bucket, `${bucket}-old`);
  mkdirSync(bucket);
  await acquireLock(bucket);
  expect(await releaseLock(bucket)).toBe(true);
  expect(await inspectLock(bucket)).toEqual({ state: 'free' });
  expect(await inspectLock(`${bucket}-old`)).toMatchObject({ state: 'held' });
  expect(await releaseLock(bucket)).toBe(true);
  expect(await inspectLock(`${bucket}-old`)).toEqual({ state: 'free' });
});

test('what was released by its handle is nothing for releaseLock', async () => {
  const bucket = temp.directory();
  const held = await acquireLock(bucket);
  expect(await held.release()).toBe(true);
  expect(await releaseLock(bucket)).toBe(false);
  await acquireLock(bucket);
  expect(await releaseLock(bucket)).toBe(true);
});

test('options reach the lock, misspelt ones are reported', async () => {
  const bucket = temp.directory();
  await acquireLock(bucket, { label: 'import' });
  expect(inspectLockSync(bucket)).toMatchObject({ state: 'held', label: 'import' });
  await releaseLock(bucket);
  const misspelt = expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE' }) as Error;
  await expect(acquireLock(bucket, { wait: 5 } as never)).rejects.toThrow(misspelt);
  await expect(inspectLock(bucket, { waitMs: 5 } as never)).rejects.toThrow(misspelt);
});

test('withLock runs its body under the lock', async () => {
  const bucket = temp.directory();
  const state = (): string => inspectLockSync(bucket).state;
  expect(await withLock(bucket, state)).toBe('held');
  expect(withLockSync(bucket, state)).toBe('held');
  expect(state()).toBe('free');
});

test('lockPath names the lockfile and touches nothing', () => {
  const bucket = join(temp.path, 'none');
  expect(lockPath(bucket)).toBe(join(bucket, '.lock'));
  expect(lockPath(pathToFileURL(bucket))).toBe(join(bucket, '.lock'));
});

test('breakLock removes the record that was reported, and no other', async () => {
  const bucket = temp.directory();
  // A PID-only record of a living process: nothing but breakLock can end it.
  writeFileSync(lockPath(bucket), `${process.ppid}\n`);
  const { token } = await inspectLock(bucket);
  if (token === undefined) throw new Error('the report has no token');
  expect(await breakLock(bucket, { token: 'another' })).toBe(false);
  expect(await breakLock(bucket, { token })).toBe(true);
  expect(await inspectLock(bucket)).toEqual({ state: 'free' });
  expect(breakLockSync(bucket, { token })).toBe(true);
});

test('breakLock never breaks a lock whose holder is alive by its guard', async () => {
  const bucket = temp.directory();
  const { token } = await acquireLock(bucket);
  expect(await breakLock(bucket, { token })).toBe(false);
  expect(breakLockSync(bucket, { token })).toBe(false);
  expect(await releaseLock(bucket)).toBe(true);
});

test('breakLock of a path that can be no bucket says so', async () => {
  const file = join(temp.directory(), 'file');
  writeFileSync(file, '');
  await expect(breakLock(file, { token: 'abc' })).rejects.toThrow(
    expect.objectContaining({ reason: 'bucket_dir_not_directory' }) as Error,
  );
});
