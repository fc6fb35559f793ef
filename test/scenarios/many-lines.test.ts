import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const scripts = useScripts(temp);

const LOCKS = 2_000;
const REQUESTS = 10_000;
/** One for each lock that is waited for, and one that keeps the time for all of them. */
const MOST_THREADS = 64 + 1;
/** One request in so many looks at the threads and does other work while it holds the lock. */
const LOOK_EVERY = 100;

const COUNT_THREADS = `
  import { existsSync, readdirSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  const countThreads = () => readdirSync('/proc/self/task').length;
  // All threads that a process has anyway are there once it has used a lock.
  const warmUp = async () => (await new BucketLock(spare).acquire()).release();`;

test(`${LOCKS} contended locks take ${MOST_THREADS} threads at most, and all are served`, async () => {
  const parent = temp.directory('parent');
  const go = join(temp.directory('go'), 'go');
  const values = { parent, go, spare: temp.directory(), LOCKS };
  const locks = `Array.from({ length: LOCKS }, (_, at) => new BucketLock(parent + '/' + at))`;
  const holder = scripts.start(
    `${COUNT_THREADS}
    const holds = ${locks}.map((lock) => lock.acquireSync());
    console.log('held');
    while (!existsSync(go)) await sleep(10);
    for (const hold of holds) hold.releaseSync();`,
    { values },
  );
  await holder.says('held');
  const waiter = scripts.start(
    `${COUNT_THREADS}
    await warmUp();
    const before = countThreads();
    let most = 0;
    const look = () => (most = Math.max(most, countThreads() - before));
    let served = 0;
    const all = ${locks}.map(async (lock) => {
      const held = await lock.acquire({ waitMs: Infinity });
      if (served % 10 === 0) look();
      served += 1;
      await held.release();
    });
    // By then those stand in line, too, that libuv's pool did not come to.
    for (const begin = performance.now(); performance.now() < begin + 1_000; await sleep(10)) look();
    console.log('waiting');
    await Promise.all(all);
    console.log(JSON.stringify({ served, most }));`,
    { values },
  );
  await waiter.says('waiting');
  writeFileSync(go, '');
  const { code, output } = await waiter.ended;
  expect(code, output).toBe(0);
  expect(await holder.ended).toMatchObject({ code: 0, output: 'held\n' });
  const { served, most } = JSON.parse(output.split('\n')[1] ?? '') as Record<string, number>;
  expect(served).toBe(LOCKS);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(MOST_THREADS);
});

test(`${REQUESTS} requests for one lock are served in order, take no more threads than one, and leave the pool to others`, async () => {
  const { code, output } = await scripts.run(
    `${COUNT_THREADS}
    import { lookup } from 'node:dns/promises';
    import { readFile } from 'node:fs/promises';
    await warmUp();
    const lock = new BucketLock(bucket);
    const held = await lock.acquire();
    const served = [];
    let threads = 0;
    let works = 0;
    const work = async () => {
      await readFile(import.meta.filename);
      await lookup('localhost');
      works += 1;
    };
    const request = async (at, onWait) => {
      const held = await lock.acquire({ waitMs: Infinity, onWait });
      served.push(at);
      if (at % LOOK_EVERY === 0) {
        threads = Math.max(threads, countThreads());
        // All others wait meanwhile.
        await work();
      }
      await held.release();
    };
    const all = [];
    await new Promise((onWait) => {
      all.push(request(0, onWait));
      setTimeout(onWait, 500);
    });
    await sleep(50);
    const ofOne = countThreads();
    for (let at = 1; at < REQUESTS; at += 1) all.push(request(at));
    await work();
    threads = countThreads();
    await held.release();
    await Promise.all(all);
    const outOfOrder = served.findIndex((number, at) => number !== at);
    console.log(JSON.stringify({ served: served.length, outOfOrder, works, more: threads - ofOne }));`,
    {
      values: { bucket: temp.directory(), spare: temp.directory(), REQUESTS, LOOK_EVERY },
      env: { UV_THREADPOOL_SIZE: '1' },
    },
  );
  expect(code, output).toBe(0);
  expect(JSON.parse(output)).toEqual({
    served: REQUESTS,
    outOfOrder: -1,
    works: REQUESTS / LOOK_EVERY + 1,
    more: 0,
  });
});
