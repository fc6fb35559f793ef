import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { mountTmpfs } from '../helpers/mounts.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

const temp = useTempDir();
const scripts = useScripts(temp);

const COUNT = 10_000;
/** For what a process has open besides. */
const SPARE_DESCRIPTORS = 500;
/** The first ones grow what is kept for good. The same number again is compared with them. */
const ROUNDS = 3;
/** Between the two. */
const MORE_ROUNDS = 2;
/** Of each lock. The engine and the allocator keep some megabytes more or less. */
const LEAK_BYTES = 128;

interface Measured {
  readonly held: { readonly descriptors: number; readonly threads: number };
  readonly first: Resources;
  readonly last: Resources;
}

interface Resources {
  readonly descriptors: number;
  readonly threads: number;
  readonly active: readonly string[];
  readonly heap: number;
  readonly resident: number;
}

/** A round takes `count` locks, by both faces, and gives them back, by both faces. */
const ROUND = `
  import { existsSync, readdirSync } from 'node:fs';
  const entriesOf = (folder) => readdirSync('/proc/self/' + folder).length;
  const measure = () => ({ descriptors: entriesOf('fd'), threads: entriesOf('task') });
  const resources = () => {
    gc();
    const { heapUsed, rss } = process.memoryUsage();
    const active = process.getActiveResourcesInfo().sort();
    return { ...measure(), active, heap: heapUsed, resident: rss };
  };
  const AT_ONCE = 100;
  const round = async (whileHeld) => {
    const locks = Array.from({ length: count }, (_, at) => new BucketLock(parent + '/' + at));
    const half = count / 2;
    const holds = locks.slice(0, half).map((lock) => lock.acquireSync({ waitMs: 0 }));
    for (let at = half; at < count; at += AT_ONCE) {
      const some = locks.slice(at, Math.min(count, at + AT_ONCE));
      holds.push(...(await Promise.all(some.map((lock) => lock.acquire({ waitMs: 0 })))));
    }
    await whileHeld?.();
    for (let at = 0; at < half; at += AT_ONCE) {
      await Promise.all(holds.slice(at, Math.min(half, at + AT_ONCE)).map((hold) => hold.release()));
    }
    for (const hold of holds.slice(half)) hold.releaseSync();
  };
  // After several rounds; memory as it was when least was in use.
  const rounds = async (number) => {
    const after = [];
    for (let made = 0; made < number; made += 1) {
      await round();
      after.push(resources());
    }
    const least = (name) => Math.min(...after.map((resources) => resources[name]));
    return { ...after.at(-1), heap: least('heap'), resident: least('resident') };
  };`;

/** How many locks one process can hold here: each has two descriptors. */
function mostPerProcess(): number {
  const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  return limit === 'unlimited' ? Infinity : (Number(limit) - SPARE_DESCRIPTORS) / 2;
}

test('10,000 locks held at once and released leave descriptors, threads and memory as they were', async (context) => {
  requireTool(context, 'tmpfs');
  const processes = Math.ceil(COUNT / mostPerProcess());
  const count = COUNT / processes;
  const go = join(temp.directory(), 'go');
  // In memory: the disk would have no part in what is measured.
  const parents = Array.from({ length: processes }, () => temp.directory());
  for (const parent of parents) mountTmpfs(parent);
  const holders = parents.map((parent) =>
    scripts.start(
      `${ROUND}
      let held;
      await round(async () => {
        held = measure();
        console.log('held');
        while (!existsSync(go)) await new Promise((resolve) => setTimeout(resolve, 10));
      });
      // The engine and the allocator find their size.
      await rounds(MORE_ROUNDS);
      const first = await rounds(ROUNDS);
      await rounds(MORE_ROUNDS);
      console.log(JSON.stringify({ held, first, last: await rounds(ROUNDS) }));`,
      {
        values: { parent, count, go, ROUNDS, MORE_ROUNDS },
        env: { NODE_OPTIONS: '--expose-gc --max-semi-space-size=2' },
      },
    ),
  );
  for (const holder of holders) await holder.says('held');
  writeFileSync(go, '');
  for (const holder of holders) {
    const { code, output } = await holder.ended;
    expect(code, output).toBe(0);
    const { held, first, last } = JSON.parse(output.split('\n')[1] ?? '') as Measured;
    expect(held.descriptors).toBeGreaterThanOrEqual(count);
    expect(held.threads).toBe(last.threads);
    expect(last.descriptors).toBe(first.descriptors);
    expect(last.threads).toBe(first.threads);
    expect(last.active).toEqual(first.active);
    const leak = LEAK_BYTES * count * (ROUNDS + MORE_ROUNDS);
    expect(last.heap - first.heap).toBeLessThan(leak);
    expect(last.resident - first.resident).toBeLessThan(leak);
  }
  for (const parent of parents) {
    const left = readdirSync(parent).filter((name) => readdirSync(join(parent, name)).length > 0);
    expect(left).toEqual([]);
  }
});
