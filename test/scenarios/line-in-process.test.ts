import { symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { lineOf } from '../helpers/kernel-line.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { until } from '../helpers/until.js';

const temp = useTempDir();
const scripts = useScripts(temp);
const driver = useDriver();

const REQUESTS = 60;
const WORKERS = 3;

/** The same bucket by several names. */
function spellingsOf(bucket: string): string[] {
  symlinkSync(bucket, `${bucket}-link`);
  symlinkSync(dirname(bucket), `${bucket}-parent`);
  return [bucket, `${bucket}-link`, join(`${bucket}-parent`, basename(bucket))];
}

/** The first `count` numbers. */
function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

/** Requests of lock objects on `spellings` in turn; answers in which order they were served. */
async function servedInLine(spellings: readonly string[]): Promise<number[]> {
  const { output } = await scripts.run(
    `const locks = [...spellings, ...spellings].map((spelling) => new BucketLock(spelling));
    const held = await locks[0].acquire();
    const served = [];
    const requests = Array.from({ length: REQUESTS }, async (_, at) => {
      const held = await locks[at % locks.length].acquire({ waitMs: Infinity });
      served.push(at);
      await held.release();
    });
    await held.release();
    await Promise.all(requests);
    console.log(JSON.stringify(served));`,
    { values: { spellings, REQUESTS } },
  );
  return JSON.parse(output) as number[];
}

test('requests of several lock objects are served in the order of the calls', async () => {
  const bucket = temp.directory();
  expect(await servedInLine([bucket, bucket, bucket])).toEqual(numbers(REQUESTS));
});

test('several spellings of a bucket stand in line like several processes', async () => {
  const spellings = spellingsOf(temp.directory());
  const served = await servedInLine(spellings);
  expect([...served].sort((a, b) => a - b)).toEqual(numbers(REQUESTS));
  for (const spelling of spellings.keys()) {
    const ofThis = served.filter((at) => at % spellings.length === spelling);
    expect(ofThis).toEqual([...ofThis].sort((a, b) => a - b));
  }
});

test('requests of the main thread and of worker threads are served in the order they came', async () => {
  const host = await driver.spawn();
  const workers = await Promise.all(numbers(WORKERS).map(() => driver.startWorker(host)));
  const threads = [host, ...workers];
  const bucket = temp.directory();
  const { hold } = await host.call('acquire', { bucket });
  const served: number[] = [];
  const requests: Promise<void>[] = [];
  for (const at of numbers(REQUESTS)) {
    const thread = threads[at % threads.length] ?? host;
    const wait = `wait-${at}`;
    await thread.call('startWait', { bucket, wait });
    requests.push(
      thread.call('endWait', { wait }).then(async ({ hold }) => {
        served.push(at);
        expect(await thread.call('release', { hold })).toBe(true);
      }),
    );
  }
  // A thread in a synchronous wait came last, and is served last.
  const last = await driver.startWorker(host);
  const syncWait = last.call('acquireSync', { bucket, waitMs: 60_000 }).then(async ({ hold }) => {
    served.push(REQUESTS);
    await last.call('releaseSync', { hold });
  });
  expect(await host.call('release', { hold })).toBe(true);
  await Promise.all([...requests, syncWait]);
  expect(served).toEqual(numbers(REQUESTS + 1));
});

test('a thread in a synchronous wait is served before its own asynchronous requests', async () => {
  const [holder, waiter] = await driver.spawnMany(2);
  const [bucket, other] = [temp.directory(), temp.directory()];
  const { hold } = await holder.call('acquire', { bucket });
  const { hold: ofOther } = await holder.call('acquire', { bucket: other });
  const wait = 'asynchronous';
  await waiter.call('startWait', { bucket, wait });
  const neighbour = await driver.startWorker(waiter);
  await neighbour.call('startWait', { bucket, wait });
  const blocked = waiter.call('acquireSync', { bucket: other, waitMs: 60_000 });
  await until('the thread is blocked', () => lineOf(other).includes(waiter.pid));
  // The thread that is blocked could not take what it is granted: its neighbour gets it.
  await holder.call('release', { hold });
  const ofNeighbour = await neighbour.call('endWait', { wait });
  await holder.call('release', { hold: ofOther });
  await blocked;
  await neighbour.call('release', { hold: ofNeighbour.hold });
  await waiter.call('endWait', { wait });
});
