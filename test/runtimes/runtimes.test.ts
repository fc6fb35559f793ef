import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { CLAIMS, ENDINGS, claimedIn } from '../helpers/exercise.js';
import { mustBlock } from '../helpers/must-block.js';
import type { Participant } from '../helpers/participant.js';
import type { Ended } from '../helpers/run-to-end.js';
import { useRuntimeProject } from '../helpers/runtime-project.js';
import { hasRuntime, peer, requireRuntime, runtimes } from '../helpers/runtimes.js';
import { taken } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';

const PATIENCE_MS = 60_000;
const TURNS = 25;
/** Long enough to see who holds the lock, whatever else the machine does. */
const LOOK_MS = 500;

const temp = useTempDir();
const project = useRuntimeProject(temp, [
  'participant.mjs',
  'counting.mjs',
  'exercise.mjs',
  'ending.mjs',
]);

/** All count on one file, under one lock. Answers how far they came; two holders at once would throw. */
async function takeTurns(members: readonly Participant[], turns: number): Promise<number> {
  const [bucket, files] = [temp.directory(), temp.directory('files')];
  const counter = join(files, 'counter');
  writeFileSync(counter, '');
  const sentinel = join(files, 'sentinel');
  const counting = { bucket, counter, sentinel, turns, workMs: 1, waitMs: PATIENCE_MS };
  await Promise.all(members.map((member) => member.call('count', counting)));
  const numbers = readFileSync(counter, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => Number(line.split(' ')[0]));
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  expect(readdirSync(bucket)).toEqual([]);
  return numbers.length;
}

describe.for(runtimes)('$name', (runtime) => {
  const driver = useDriver(() => project.participantIn(runtime));
  const peers = useDriver(() => project.participantIn(peer));

  beforeEach((context) => {
    requireRuntime(context, peer);
    requireRuntime(context, runtime);
  });

  describe('within one process', () => {
    let claimed: ReadonlyMap<string, string> = new Map();
    let ended: Ended | undefined;

    beforeAll(async () => {
      if (!hasRuntime(runtime)) return;
      ended = await project.run(runtime, 'exercise.mjs', temp.directory('buckets'));
      claimed = claimedIn(ended.output);
    });

    test.for(CLAIMS)('%s', (claim) => {
      expect(claimed.get(claim) ?? ended?.output).toBe('true');
    });

    test('nothing else is claimed, and the program ends well', () => {
      expect([...claimed.keys()]).toEqual(CLAIMS);
      expect(ended?.code).toBe(0);
    });
  });

  test('who holds the lock is told to the other runtime', async () => {
    const [own] = await driver.pool(1);
    const [other] = await peers.pool(1);
    const bucket = temp.directory();
    for (const [holder, contender] of [
      [own, other],
      [other, own],
    ] as const) {
      const { hold, token } = await holder.call('acquire', { bucket, label: 'why' });
      for (const [attempt, waitMs] of [
        ['acquire', LOOK_MS],
        ['acquireSync', 0],
      ] as const) {
        const { remote } = await contender.callToFail(attempt, { bucket, waitMs });
        expect(remote).toMatchObject({
          name: 'BucketBusyError',
          code: 'ERR_BUCKET_BUSY',
          holdingPid: holder.pid,
          report: { state: 'held', evidence: 'guard', process: 'alive', label: 'why', token },
        });
      }
      expect(await holder.call('release', { hold })).toBe(true);
      expect(readdirSync(bucket)).toEqual([]);
    }
  });

  test.for(['acquire', 'acquireSync'] as const)(
    '%s waits until the other runtime releases',
    async (acquire) => {
      const [own] = await driver.pool(1);
      const [other] = await peers.pool(1);
      const bucket = temp.directory();
      for (const [holder, waiter] of [
        [own, other],
        [other, own],
      ] as const) {
        const { hold } = await holder.call('acquireSync', { bucket });
        const wait = waiter.call(acquire, { bucket, waitMs: PATIENCE_MS });
        const ends = await mustBlock(acquire, wait);
        expect(await holder.call('releaseSync', { hold })).toBe(true);
        const next = await ends();
        expect(await holder.call('tryAcquire', { bucket })).toBeNull();
        expect(await waiter.call('release', { hold: next.hold })).toBe(true);
      }
      expect(readdirSync(bucket)).toEqual([]);
    },
  );

  test('a wait that is aborted leaves the others their turn', async () => {
    const [own] = await driver.pool(1);
    const [holder, patient] = await peers.pool(2);
    const bucket = temp.directory();
    const { hold } = await holder.call('acquire', { bucket });
    await own.call('startWait', { bucket, wait: 'fickle' });
    const wait = patient.call('acquire', { bucket, waitMs: PATIENCE_MS });
    const ends = await mustBlock('acquire', wait);
    await own.call('abortWait', { wait: 'fickle' });
    const { remote } = await own.callToFail('endWait', { wait: 'fickle' });
    expect(remote).toMatchObject({ message: 'fickle is aborted' });
    expect(await holder.call('release', { hold })).toBe(true);
    const next = await ends();
    expect(await patient.call('release', { hold: next.hold })).toBe(true);
    expect(readdirSync(bucket)).toEqual([]);
  });

  test('both runtimes take turns, and never together', async () => {
    const members = [...(await driver.pool(2)), ...(await peers.pool(2))];
    expect(await takeTurns(members, TURNS)).toBe(members.length * TURNS);
  });

  test('the next attempt after a kill succeeds, and a waiter is served', async () => {
    const [own] = await driver.pool(1);
    const [other] = await peers.pool(1);
    const bucket = temp.directory();
    for (const [victims, judge] of [
      [driver, other],
      [peers, own],
    ] as const) {
      const holder = await victims.spawn();
      await holder.call('acquire', { bucket });
      await holder.kill();
      expect(readdirSync(bucket)).toEqual(['.lock']);
      expect(await judge.call('inspect', { bucket })).toMatchObject({
        state: 'stale',
        evidence: 'guard-free',
        pid: holder.pid,
        process: 'gone',
      });
      const { hold } = taken(await judge.call('tryAcquire', { bucket }));
      expect(await judge.call('release', { hold })).toBe(true);

      const second = await victims.spawn();
      await second.call('acquireSync', { bucket });
      const wait = judge.call('acquire', { bucket, waitMs: PATIENCE_MS });
      const ends = await mustBlock('acquire', wait);
      await second.kill();
      const next = await ends();
      expect(await judge.call('release', { hold: next.hold })).toBe(true);
      expect(readdirSync(bucket)).toEqual([]);
    }
  });

  test('a worker that is terminated leaves its lock and its place in line', async () => {
    const [other] = await peers.pool(1);
    const host = await driver.spawn();
    const bucket = temp.directory();
    const holding = await driver.startWorker(host);
    await holding.call('acquire', { bucket });
    const waiting = await driver.startWorker(host);
    await waiting.call('startWait', { bucket, wait: 'in line' });
    expect(await other.call('tryAcquire', { bucket })).toBeNull();
    await host.call('terminateWorker', { id: waiting.id });
    await host.call('terminateWorker', { id: holding.id });
    const { hold } = taken(await other.call('tryAcquire', { bucket }));
    expect(await host.call('tryAcquire', { bucket })).toBeNull();
    expect(await other.call('release', { hold })).toBe(true);
    expect(readdirSync(bucket)).toEqual([]);
  });

  test.for(ENDINGS)('%s leaves no lockfile, and the exit code is %d', async ([ending, code]) => {
    const [other] = await peers.pool(1);
    const [bucket, busy] = [temp.directory(), temp.directory('busy')];
    const { hold } = await other.call('acquire', { bucket: busy });
    const ended = await project.run(runtime, 'ending.mjs', ending, bucket, busy);
    expect(ended.output).toMatch(/^held\n/m);
    expect(ended.code).toBe(code);
    expect(readdirSync(bucket)).toEqual([]);
    expect(await other.call('release', { hold })).toBe(true);
    expect(readdirSync(busy)).toEqual([]);
  });
});

describe('all runtimes together', () => {
  const drivers = runtimes.map((runtime) => ({
    runtime,
    driver: useDriver(() => project.participantIn(runtime)),
  }));

  beforeEach((context) => {
    for (const runtime of runtimes) requireRuntime(context, runtime);
  });

  test('take turns on one bucket, and never two at once', async () => {
    const members = await Promise.all(drivers.map(({ driver }) => driver.spawn()));
    expect(await takeTurns(members, TURNS)).toBe(members.length * TURNS);
  });

  test('a lock passes from each that is killed to the next', async () => {
    const members = await Promise.all(drivers.map(({ driver }) => driver.spawn()));
    const bucket = temp.directory();
    for (const [at, member] of members.entries()) {
      const last = members[at - 1];
      const wait = member.call('acquire', { bucket, waitMs: PATIENCE_MS });
      if (last === undefined) await wait;
      else {
        const ends = await mustBlock('acquire', wait);
        await last.kill();
        await ends();
      }
    }
    await members.at(-1)?.kill();
    expect(readdirSync(bucket)).toEqual(['.lock']);
  });
});
