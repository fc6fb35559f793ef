import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const scripts = useScripts(temp);

const LOCKS = 2_000;
/** One for each lock that is waited for, and one that keeps the time for all of them. */
const MOST_THREADS = 64 + 1;

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
