import { expect, test } from 'vitest';

import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const scripts = useScripts(temp);

/** Abandoned in one round: the more at once, the more memory comes and goes with them. */
const COUNT = 2_000;
/** Three times: the first ones grow what is kept for good, the last are compared with the second. */
const ROUNDS = 17;
/** Of each claim. The engine and the allocator keep some megabytes more or less. */
const LEAK_BYTES = 96;

interface Resources {
  readonly descriptors: number;
  readonly threads: number;
  readonly active: readonly string[];
  readonly heap: number;
  readonly resident: number;
}

/** What a process has open and allocated; memory as it was when least was in use. */
const MEASURE = `
  import { readdirSync } from 'node:fs';
  const { namedLock } = bucketlock;
  const entriesOf = (folder) => readdirSync('/proc/self/' + folder).length;
  const resources = () => {
    gc();
    const { heapUsed, rss } = process.memoryUsage();
    const active = process.getActiveResourcesInfo().sort();
    return { descriptors: entriesOf('fd'), threads: entriesOf('task'), active, heap: heapUsed, resident: rss };
  };
  const rounds = async () => {
    const after = [];
    for (let made = 0; made < ${ROUNDS}; made += 1) {
      await round();
      after.push(resources());
    }
    const least = (name) => Math.min(...after.map((resources) => resources[name]));
    return { ...after.at(-1), heap: least('heap'), resident: least('resident') };
  };
  const report = async () => {
    await rounds();
    const first = await rounds();
    console.log(JSON.stringify({ first, last: await rounds() }));
  };`;

const abandoned: Record<string, string> = {
  'are aborted one by one': `
    const round = async () => {
      const held = await lock.acquire();
      const waiting = Array.from({ length: ${COUNT} }, () => {
        const controller = new AbortController();
        const ended = lock.acquire({ signal: controller.signal, waitMs: Infinity });
        return { controller, ended: ended.catch(() => 'aborted') };
      });
      // From the middle outwards: the place in line makes no difference.
      const middle = waiting.length / 2;
      for (let at = 0; at < middle; at += 1) {
        waiting[middle + at].controller.abort();
        waiting[middle - 1 - at].controller.abort();
      }
      const ends = await Promise.all(waiting.map(({ ended }) => ended));
      if (ends.some((end) => end !== 'aborted')) throw new Error('one was not aborted');
      held.releaseSync();
    };`,
  'end by their deadline': `
    const round = async () => {
      const held = await lock.acquire();
      const waiting = Array.from({ length: ${COUNT} }, () =>
        lock.acquire({ waitMs: 1 + Math.random() }).catch(({ code }) => code));
      const ends = await Promise.all(waiting);
      if (ends.some((end) => end !== 'ERR_LOCK_BUSY')) throw new Error('one was not busy');
      held.releaseSync();
    };`,
  'are aborted after their grant': `
    const round = async () => {
      for (let at = 0; at < ${COUNT}; at += 1) {
        const held = await lock.acquire();
        const controller = new AbortController();
        const ended = lock.acquire({ signal: controller.signal, waitMs: Infinity });
        held.releaseSync();
        controller.abort();
        if ((await ended.catch(() => 'aborted')) !== 'aborted') throw new Error('not aborted');
      }
    };`,
  'never had a name twice': `
    let names = 0;
    const round = async () => {
      const locks = Array.from({ length: ${COUNT} }, () => namedLock('name-' + (names += 1)));
      const held = await Promise.all(locks.map((lock) => lock.acquire()));
      const late = await Promise.all(locks.map((lock) => lock.acquire({ waitMs: 1 }).catch(({ code }) => code)));
      if (late.some((end) => end !== 'ERR_LOCK_BUSY')) throw new Error('one was not busy');
      for (const hold of held) hold.releaseSync();
    };`,
};

test.for(Object.entries(abandoned))(
  '100,000 waits that %s leave descriptors, threads and memory as they were',
  async ([, round]) => {
    const { code, output } = await scripts.run(
      `${MEASURE}
      const lock = namedLock('contended');
      ${round}
      await report();
      console.log(lock.inspectSync().state);`,
      { env: { NODE_OPTIONS: '--expose-gc --max-semi-space-size=2' } },
    );
    expect(code, output).toBe(0);
    const [measured = '', state] = output.split('\n');
    const { first, last } = JSON.parse(measured) as Record<'first' | 'last', Resources>;
    expect(state).toBe('free');
    expect(last.descriptors).toBe(first.descriptors);
    expect(last.threads).toBe(first.threads);
    expect(last.active).toEqual(first.active);
    expect(last.heap - first.heap).toBeLessThan(LEAK_BYTES * COUNT * ROUNDS);
    expect(last.resident - first.resident).toBeLessThan(LEAK_BYTES * COUNT * ROUNDS);
  },
);
