import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

import { expect, test } from 'vitest';

import { isBucketBusyError } from '../lib/error-guards.js';
import type * as Package from '../lib/index.js';
import { sharedInThread } from '../lib/thread-shared.js';
import { exitListeners } from './helpers/exit-listeners.js';
import { copyPackage } from './helpers/package-copy.js';
import { program } from './helpers/program.js';
import { useTempDir } from './helpers/temp-dir.js';
import { until } from './helpers/until.js';

const temp = useTempDir();

async function importFrom(entry: string): Promise<typeof Package> {
  return (await import(pathToFileURL(entry).href)) as typeof Package;
}

test('a thing is made once, however often it is asked for', () => {
  const find = sharedInThread('test-thing', () => ({}));
  const first = find();
  expect(find()).toBe(first);
  expect(sharedInThread('test-thing', () => ({}))()).toBe(first);
});

test('two copies of the package in one thread are one lock with one account of it', async () => {
  const ours = await importFrom(program.entry);
  const theirs = await importFrom(copyPackage(temp.directory('copy')));
  expect(theirs.BucketLock).not.toBe(ours.BucketLock);
  const bucket = temp.directory();
  await ours.acquireLock(bucket);
  const reason: unknown = await theirs.acquireLock(bucket).catch((error: unknown) => error);
  expect(reason).toBeInstanceOf(theirs.BucketBusyError);
  expect(reason).not.toBeInstanceOf(ours.BucketBusyError);
  expect(isBucketBusyError(reason)).toBe(true);
  expect(ours.isBucketBusyError(reason)).toBe(true);
  // What one copy holds, the other knows: its sync waits, its exit listener, its releaseLock.
  expect(() => theirs.acquireLockSync(bucket, { waitMs: Infinity })).toThrow(
    expect.objectContaining({ code: 'ERR_LOCK_REENTRY' }) as Error,
  );
  expect(exitListeners()).toBe(1);
  expect(await theirs.releaseLock(bucket)).toBe(true);
  await until('nobody listens', () => exitListeners() === 0);
  await ours.withLock(bucket, async () => {
    await expect(theirs.withLock(bucket, () => undefined)).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_LOCK_REENTRY' }) as Error,
    );
  });
});

/** A worker thread that runs `body` with the package, and says what that returns. */
function startWorker(bucket: string, body: string): Worker {
  const script = `
    const { parentPort } = require('node:worker_threads');
    const locks = require(${JSON.stringify(program.entry)});
    const bucket = ${JSON.stringify(bucket)};
    (async () => { ${body} })().then((result) => parentPort.postMessage(result));`;
  return new Worker(script, { eval: true });
}

async function answerOf(worker: Worker): Promise<unknown> {
  const [answer] = (await once(worker, 'message')) as [unknown];
  return answer;
}

test('import and require give one module', async () => {
  const worker = startWorker(
    temp.directory(),
    `const { pathToFileURL } = require('node:url');
    const imported = await import(pathToFileURL(${JSON.stringify(program.entry)}).href);
    return imported.BucketLock === locks.BucketLock;`,
  );
  expect(await answerOf(worker)).toBe(true);
});

test('a worker thread has an account of its own, and what it holds ends with it', async () => {
  const { acquireLock, releaseLock, inspectLock } = await importFrom(program.entry);
  const bucket = temp.directory();
  await acquireLock(bucket);
  const stranger = startWorker(bucket, 'return locks.releaseLock(bucket);');
  expect(await answerOf(stranger)).toBe(false);
  await stranger.terminate();
  expect(await inspectLock(bucket)).toMatchObject({ state: 'held', thisProcess: true });
  expect(await releaseLock(bucket)).toBe(true);
  const holder = startWorker(
    bucket,
    "await locks.acquireLock(bucket); setInterval(() => {}, 1000); return 'held';",
  );
  expect(await answerOf(holder)).toBe('held');
  expect(await inspectLock(bucket)).toMatchObject({ state: 'held', thisProcess: true });
  await holder.terminate();
  expect(await inspectLock(bucket)).toEqual({ state: 'free' });
});

test('a worker in a synchronous wait can be terminated, and leaves the line', async () => {
  const { acquireLock, releaseLock, inspectLock } = await importFrom(program.entry);
  const bucket = temp.directory();
  await acquireLock(bucket);
  const waiter = startWorker(
    bucket,
    "const onWait = () => parentPort.postMessage('waits'); locks.acquireLockSync(bucket, { waitMs: Infinity, onWait });",
  );
  expect(await answerOf(waiter)).toBe('waits');
  await waiter.terminate();
  expect(await releaseLock(bucket)).toBe(true);
  expect(await inspectLock(bucket)).toEqual({ state: 'free' });
});

test('worker threads in synchronous waits take turns and lose none', async () => {
  const bucket = temp.directory();
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const turns = 50;
  const workers = Array.from({ length: 4 }, () =>
    startWorker(
      bucket,
      `const [counter] = (await require('node:events').once(parentPort, 'message'));
      for (let turn = 0; turn < ${turns}; turn += 1) {
        locks.withLockSync(bucket, () => { const seen = counter[0]; counter[0] = seen + 1; }, { waitMs: Infinity });
      }
      return 'done';`,
    ),
  );
  const answers = workers.map(answerOf);
  for (const worker of workers) worker.postMessage(shared);
  expect(await Promise.all(answers)).toEqual(['done', 'done', 'done', 'done']);
  expect(shared[0]).toBe(4 * turns);
  await Promise.all(workers.map((worker) => worker.terminate()));
});
