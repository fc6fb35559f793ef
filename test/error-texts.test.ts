import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { BucketLock } from '../lib/bucket-lock.js';
import { isBucketBusyError } from '../lib/error-guards.js';
import { useDriver } from './helpers/driver.js';
import { mountBindfs } from './helpers/mounts.js';
import { lockfileOf, readRecord } from './helpers/records.js';
import { useScripts } from './helpers/script.js';
import { useTempDir } from './helpers/temp-dir.js';
import { requireTool } from './helpers/tools.js';

// What people read when something goes wrong: what failed, on which path, who holds it since when
// on what evidence, and what can be done. Each from the situation itself, word by word.

const temp = useTempDir();
const driver = useDriver();
const scripts = useScripts(temp);

async function errorOf(failing: Promise<unknown>): Promise<Error> {
  const error: unknown = await failing.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw error;
}

/** A bucket that another process holds, and the words for that process. */
async function heldByAnother(bucket = temp.directory()) {
  const holder = await driver.spawn();
  await holder.call('acquire', { bucket, label: 'nightly import' });
  const since = new Date(readRecord(bucket).since).toISOString();
  const words = `held by process ${holder.pid} on host "${hostname()}" for "nightly import" since ${since}`;
  return { bucket, holder, words };
}

test('busy, without a wait', async () => {
  const { bucket, words } = await heldByAnother();
  const error = await errorOf(new BucketLock(bucket).acquire({ waitMs: 0 }));
  expect(error.message).toBe(
    `The bucket lock on '${bucket}' is ${words}: the kernel lock on its lockfile is held. Pass waitMs to wait.`,
  );
});

test('busy, after a wait', async () => {
  const { bucket, words } = await heldByAnother();
  const error = await errorOf(new BucketLock(bucket).acquire({ waitMs: 50 }));
  const waitedMs = isBucketBusyError(error) ? error.waitedMs : NaN;
  expect(waitedMs).toBeGreaterThanOrEqual(50);
  expect(error.message).toBe(
    `The bucket lock on '${bucket}' is ${words}: the kernel lock on its lockfile is held. Gave up after ${waitedMs} ms.`,
  );
});

test('busy, by a holder that is this process itself', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const error = await errorOf(lock.acquire({ waitMs: 0 }));
  const since = new Date(readRecord(lock.path).since).toISOString();
  expect(error.message).toBe(
    `The bucket lock on '${lock.path}' is held by this process (PID ${process.pid}) on host "${hostname()}" since ${since}: the kernel lock on its lockfile is held. Pass waitMs to wait.`,
  );
  await held.release();
});

test('busy, where a dead holder cannot be proven dead', async (context) => {
  requireTool(context, 'bindfs');
  const bucket = temp.directory('view');
  mountBindfs(temp.directory('source'), bucket);
  const { holder, words } = await heldByAnother(bucket);
  await holder.kill();
  const error = await errorOf(new BucketLock(bucket).acquire({ waitMs: 0 }));
  expect(error.message).toBe(
    `The bucket lock on '${bucket}' is ${words.replace(`process ${holder.pid}`, `process ${holder.pid}, which is gone,`)}: ` +
      'a free kernel lock proves nothing on the file systems involved (seen here: "fuse"). ' +
      'If that holder is known to be gone, breakLock(bucket, { token: report.token }) removes its record; ' +
      'trustKernelLocks: true is for directories that every holder reaches through the same kernel and the same mount. Pass waitMs to wait.',
  );
});

test('a bucket that is not there and is not to be made', async () => {
  const bucket = join(temp.directory(), 'bucket');
  const error = await errorOf(new BucketLock(bucket, { create: false }).acquire());
  expect(error.message).toBe(
    `'${bucket}' cannot be locked as a bucket: there is no such directory, and create is false`,
  );
});

test('a bucket in which its user may not write', async (context) => {
  requireTool(context, 'root');
  const bucket = temp.directory();
  chmodSync(bucket, 0o755);
  const { output } = await scripts.run(
    'await new BucketLock(bucket).acquire().catch(({ message }) => console.log(message));',
    { values: { bucket }, uid: 65534 },
  );
  expect(output.trim()).toBe(
    `Cannot acquire the bucket lock on '${bucket}': EACCES: permission denied, open '${lockfileOf(bucket)}'; the bucket directory must be writable for whoever locks it`,
  );
});

const losses: readonly [string, (lockfile: string) => void, string][] = [
  [
    'removed',
    (lockfile) => {
      rmSync(lockfile);
    },
    'its lockfile has been removed',
  ],
  [
    'replaced',
    (lockfile) => {
      rmSync(lockfile);
      writeFileSync(lockfile, '1\n');
    },
    'another lockfile stands in its place',
  ],
];

test.for(losses)('lost, because its lockfile was %s', async ([, lose, words]) => {
  const lock = new BucketLock(temp.directory());
  const body = (): void => {
    lose(lockfileOf(lock.path));
  };
  const error = await errorOf(lock.with(body));
  expect(error.message).toBe(`The bucket lock on '${lock.path}' is no longer ours: ${words}`);
});
