import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const driver = useDriver();
const temp = useTempDir();
const scripts = useScripts(temp);

const WAITS = 100_000;
/** So many at a time. */
const BATCH = 1_000;
/** Batches that grow what is kept for good, before the first look. */
const WARM_UP = 10;
/** Of each wait. The engine and the allocator keep some megabytes more or less. */
const LEAK_BYTES = 128;

interface Measured {
  readonly reasons: number;
  readonly threads: number;
  readonly descriptors: number;
  readonly heap: number;
  readonly resident: number;
}

test(`${WAITS} abandoned waits leave threads, descriptors and memory as they were`, async () => {
  const holder = await driver.spawn();
  const bucket = temp.directory();
  const { hold } = await holder.call('acquire', { bucket });
  const { code, output } = await scripts.run(
    `import { readdirSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    const lock = new BucketLock(bucket);
    const entriesOf = (folder) => readdirSync('/proc/self/' + folder).length;
    let reasons = 0;
    let made = 0;
    // Some give up at the first attempt, some in line, some at their deadline.
    const batch = async () => {
      const controller = new AbortController();
      const { signal } = controller;
      const reason = new Error('enough');
      let waiting;
      const someWait = new Promise((onWait) => (waiting = onWait));
      const waits = Array.from({ length: BATCH }, (_, at) =>
        lock
          .acquire(at % 10 === 0 ? { waitMs: 1 } : { signal, waitMs: Infinity, onWait: waiting })
          .catch((error) => {
            if (error === reason || error.code === 'ERR_BUCKET_BUSY') reasons += 1;
          }),
      );
      await Promise.race([someWait, sleep(500)]);
      // Every other time it is the kernel, in all likelihood, that the first one is blocked in.
      if ((made += 1) % 2 === 0) await sleep(10);
      controller.abort(reason);
      await Promise.all(waits);
    };
    const batches = async (number) => {
      let heap = Infinity;
      let resident = Infinity;
      for (let turn = 0; turn < number; turn += 1) {
        await batch();
        gc();
        const memory = process.memoryUsage();
        heap = Math.min(heap, memory.heapUsed);
        resident = Math.min(resident, memory.rss);
      }
      return { reasons, threads: entriesOf('task'), descriptors: entriesOf('fd'), heap, resident };
    };
    await batches(WARM_UP);
    const first = await batches(WARM_UP);
    await batches(WAITS / BATCH - 3 * WARM_UP);
    console.log(JSON.stringify([first, await batches(WARM_UP)]));`,
    {
      values: { bucket, WAITS, BATCH, WARM_UP },
      env: { NODE_OPTIONS: '--expose-gc --max-semi-space-size=2' },
    },
  );
  expect(code, output).toBe(0);
  const [first, last] = JSON.parse(output) as [Measured, Measured];
  expect(last.reasons).toBe(WAITS);
  expect(last.threads).toBeLessThanOrEqual(first.threads);
  expect(last.descriptors).toBeLessThanOrEqual(first.descriptors);
  const leak = LEAK_BYTES * (WAITS - 2 * WARM_UP * BATCH);
  expect(last.heap - first.heap).toBeLessThan(leak);
  expect(last.resident - first.resident).toBeLessThan(leak);
  expect(await holder.call('verify', { hold })).toBe(true);
});
