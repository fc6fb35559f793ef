import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';

import { expectEmpty } from '../helpers/bucket.js';
import { useDriver } from '../helpers/driver.js';
import { mountBindfs, mountOverlay } from '../helpers/mounts.js';
import { mustBlock } from '../helpers/must-block.js';
import { RemoteError } from '../helpers/protocol.js';
import { taken, tokenOf } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

const TURNS = 15;

const driver = useDriver();
const temp = useTempDir();

/** Two directories that show the same files, and have a lock table each. */
interface Views {
  readonly below: string;
  readonly above: string;
}

const makeViews = {
  bindfs: (context: TestContext): Views => {
    requireTool(context, 'bindfs');
    const below = temp.directory('source');
    const above = temp.directory('view');
    mountBindfs(below, above);
    return { below, above };
  },
  overlay: (context: TestContext): Views => {
    requireTool(context, 'overlay');
    const below = temp.directory('upper');
    const above = temp.directory('merged');
    const lower = temp.directory('lower');
    mountOverlay({ lower, upper: below, work: temp.directory('work'), merged: above });
    return { below, above };
  },
};

const kinds = ['bindfs', 'overlay'] as const;

const directions = kinds.flatMap((kind) => [
  { name: `${kind}: held below, judged above`, kind, swap: false },
  { name: `${kind}: held above, judged below`, kind, swap: true },
]);

/** The same new bucket as its holder and as its judge see it. */
function makeBucket({ below, above }: Views, swap: boolean): readonly [string, string] {
  mkdirSync(join(below, 'bucket'));
  const views = [join(below, 'bucket'), join(above, 'bucket')] as const;
  return swap ? [views[1], views[0]] : views;
}

test.for(directions)('$name: a holder excludes, alive or dead', async ({ kind, swap }, context) => {
  const [bucket, sameBucket] = makeBucket(makeViews[kind](context), swap);
  const [judge] = await driver.pool(1);
  const holder = await driver.spawn();
  await holder.call('acquire', { bucket, label: 'a view of its own' });

  const foreign = { state: 'held', evidence: 'foreign', pid: holder.pid };
  const judgeAgain = async () => {
    expect(await judge.call('inspect', { bucket: sameBucket })).toMatchObject(foreign);
    for (const attempt of ['tryAcquire', 'tryAcquireSync'] as const) {
      expect(await judge.call(attempt, { bucket: sameBucket })).toBeNull();
    }
    const busy = await judge.callToFail('acquire', { bucket: sameBucket, waitMs: 0 });
    expect(busy.remote).toMatchObject({ code: 'ERR_BUCKET_BUSY', report: foreign });
    // The message names the ways out.
    expect(busy.message).toMatch(/breakLock/);
    expect(busy.message).toMatch(/trustKernelLocks/);
    return tokenOf(busy.remote.report ?? { state: 'free' });
  };
  await judgeAgain();
  await holder.kill();
  // From here nobody can know that it is dead, so it goes on counting as held.
  const token = await judgeAgain();
  expect(await judge.call('breakLock', { bucket: sameBucket, token: '0'.repeat(32) })).toBe(false);
  expect(await judge.call('breakLock', { bucket: sameBucket, token })).toBe(true);
  const hold = taken(await judge.call('tryAcquire', { bucket: sameBucket }));
  expect(await judge.call('release', { hold: hold.hold })).toBe(true);
  await expectEmpty(bucket);
});

// A PID-only record cannot say what file system its holder vouches for, so no other may believe it.
// (On bindfs nobody can vouch: each name of a file has kernel locks of its own.)
const vouched = directions.flatMap((direction) =>
  [false, true].map((trustKernelLocks) => ({ ...direction, trustKernelLocks })),
);

test.for(
  vouched.filter(
    ({ kind, swap, trustKernelLocks }) => !trustKernelLocks || kind !== 'bindfs' || !swap,
  ),
)('$name: a PID-only holder excludes (trusting: $trustKernelLocks)', async (view, context) => {
  const [bucket, sameBucket] = makeBucket(makeViews[view.kind](context), view.swap);
  const [holder, judge] = await driver.pool(2);
  const lockOptions = { recordFormat: 'pid', trustKernelLocks: view.trustKernelLocks } as const;
  const { hold } = await holder.call('acquire', { bucket, lockOptions });
  for (const attempt of ['tryAcquire', 'tryAcquireSync'] as const) {
    expect(await judge.call(attempt, { bucket: sameBucket })).toBeNull();
  }
  expect(await judge.call('inspect', { bucket: sameBucket })).toMatchObject({ state: 'held' });
  expect(await holder.call('release', { hold })).toBe(true);
});

// Not below to above on an overlay: what is removed behind it stays visible there for as long as
// the kernel remembers the name. That is undefined by its documentation, and cures itself never.
test.for(directions.filter(({ kind, swap }) => kind === 'bindfs' || swap))(
  '$name: a waiter is served',
  async ({ kind, swap }, context) => {
    const [bucket, sameBucket] = makeBucket(makeViews[kind](context), swap);
    const [holder, waiter] = await driver.pool(2);
    const { hold } = await holder.call('acquire', { bucket });
    const waiting = waiter.call('acquire', { bucket: sameBucket, waitMs: 60_000 });
    const ends = await mustBlock('acquire', waiting);
    expect(await holder.call('release', { hold })).toBe(true);
    const next = await ends();
    expect(await holder.call('tryAcquire', { bucket })).toBeNull();
    expect(await waiter.call('release', { hold: next.hold })).toBe(true);
  },
);

/** Two processes on either side work under the lock; answers those whose loop failed, and why. */
async function contend(views: readonly [string, string], waitMs: number): Promise<unknown[]> {
  const files = temp.directory('files');
  const counter = join(files, 'counter');
  writeFileSync(counter, '');
  const pool = await driver.pool(4);
  const loops = await Promise.allSettled(
    pool.map((contender, index) =>
      contender.call('count', {
        bucket: index % 2 === 0 ? views[0] : views[1],
        counter,
        sentinel: join(files, 'sentinel'),
        waitMs,
        turns: TURNS,
      }),
    ),
  );
  const lines = readFileSync(counter, 'utf8').trimEnd().split('\n');
  const numbers = lines.map((line) => Number(line.split(' ')[0]));
  // No number twice, none left out: nobody worked beside another.
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  const failed = loops.flatMap((loop): unknown[] =>
    loop.status === 'rejected' ? [loop.reason] : [],
  );
  expect(numbers.length).toBeGreaterThanOrEqual(TURNS * (pool.length - failed.length));
  return failed;
}

test('bindfs: contenders on both sides take turns and never overlap', async (context) => {
  expect(await contend(makeBucket(makeViews.bindfs(context), false), 60_000)).toEqual([]);
});

test('overlay: contenders on both sides never overlap', async (context) => {
  const failed = await contend(makeBucket(makeViews.overlay(context), false), 1_000);
  for (const error of failed) {
    // Held as far as can be told, or the kernel says that what it remembers is stale.
    if (!(error instanceof RemoteError)) throw error;
    expect(['foreign', 'ESTALE']).toContain(error.remote.report?.evidence ?? error.remote.code);
  }
});

test('the recorded file system decides, not only the one that is seen', async (context) => {
  const [bucket, sameBucket] = makeBucket(makeViews.bindfs(context), true);
  const [judge] = await driver.pool(1);
  const holder = await driver.spawn();
  await holder.call('acquire', { bucket });
  await holder.kill();
  // Whoever vouches for the kernel locks judges by them; whoever does not cannot tell.
  const trusting = { bucket: sameBucket, lockOptions: { trustKernelLocks: true } };
  expect(await judge.call('inspect', { bucket: sameBucket })).toMatchObject({
    evidence: 'foreign',
  });
  expect(await judge.call('inspect', trusting)).toMatchObject({
    state: 'stale',
    evidence: 'guard-free',
  });
  expect(await judge.call('tryAcquire', { bucket: sameBucket })).toBeNull();
  expect(await judge.call('tryAcquire', trusting)).not.toBeNull();
});
