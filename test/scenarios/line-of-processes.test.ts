import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { lineOf } from '../helpers/kernel-line.js';
import { lineUp, takeTurn, untilAtHead } from '../helpers/line-up.js';
import type { Participant } from '../helpers/participant.js';
import { stateOf } from '../helpers/proc.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { until } from '../helpers/until.js';

const driver = useDriver();
const temp = useTempDir();

const PROCESSES = 64;
const TURNS = 10;
/** Twice round the line. */
const MOST_AHEAD = 2 * PROCESSES;
const HAND_OVERS = 400;
/** Of all but the head together; if all of them woke, it would be more than there are of them. */
const SWITCHES_PER_HAND_OVER = 4;
/** Of a waiter that is served, with all that it says and hears. */
const SWITCHES_PER_TURN = 30;
/** Whether the line moves is looked at by each waiter, at most so often. */
const LOOK_EVERY_MS = 50;
const SWITCHES_PER_LOOK = 2;

function countingFiles() {
  const files = temp.directory('files');
  const counter = join(files, 'counter');
  writeFileSync(counter, '');
  return { counter, sentinel: join(files, 'sentinel') };
}

function turnsIn(counter: string): number[] {
  const lines = readFileSync(counter, 'utf8').trimEnd().split('\n');
  return lines.map((line) => Number(line.split(' ')[0]));
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, at) => at + 1);
}

async function switchesOf(waiters: readonly Participant[]): Promise<number> {
  const switches = await Promise.all(waiters.map((waiter) => waiter.call('switches', {})));
  return switches.reduce((sum, ofOne) => sum + ofOne, 0);
}

async function untilAllInLine(bucket: string, waiters: readonly Participant[]): Promise<void> {
  await until('all stand in line', () => {
    const line = new Set(lineOf(bucket));
    return waiters.every(({ pid }) => line.has(pid));
  });
}

test(`of ${PROCESSES} waiting processes none sees more than ${MOST_AHEAD} turns of others before its own`, async () => {
  const holder = await driver.spawn();
  const waiters = await driver.pool<number>(PROCESSES);
  const bucket = temp.directory();
  const files = countingFiles();
  const { hold } = await holder.call('acquire', { bucket });
  const counting = waiters.map((waiter) =>
    waiter.call('count', { bucket, ...files, turns: TURNS, workMs: 0, waitMs: 90_000 }),
  );
  await untilAllInLine(bucket, waiters);
  await holder.call('release', { hold });
  const counted = await Promise.all(counting);
  expect(turnsIn(files.counter)).toEqual(upTo(PROCESSES * TURNS));
  expect(Math.max(...counted.map(({ mostAhead }) => mostAhead))).toBeLessThanOrEqual(MOST_AHEAD);
});

test('a hand-over wakes nobody but the head of the line, however many processes wait', async () => {
  const [holder, head] = await driver.spawnMany(2);
  const waiters = await driver.pool<number>(PROCESSES);
  const bucket = temp.directory();
  const { hold } = await holder.call('acquire', { bucket });
  await lineUp(bucket, [head]);
  await untilAtHead(bucket, head);
  await Promise.all(waiters.map((waiter) => waiter.call('startWait', { bucket, wait: 'in line' })));
  await untilAllInLine(bucket, waiters);
  // Else it would take its turn, and the line would soon be empty.
  await head.suspend(stateOf);
  const before = await switchesOf(waiters);
  const startedAt = performance.now();
  let turns = 0;
  const served = waiters.map((waiter) => takeTurn(waiter).then(() => (turns += 1)));
  const last = await holder.call('retake', { bucket, hold, times: HAND_OVERS });
  const looks = (PROCESSES * (performance.now() - startedAt)) / LOOK_EVERY_MS;
  const made = (await switchesOf(waiters)) - before;
  expect(made).toBeLessThan(
    SWITCHES_PER_HAND_OVER * HAND_OVERS + SWITCHES_PER_TURN * turns + SWITCHES_PER_LOOK * looks,
  );
  await holder.call('release', { hold: last.hold });
  head.resume();
  await takeTurn(head);
  await Promise.all(served);
});

test('a process that takes and releases without a pause starves nobody', async () => {
  const [greedy, ...others] = await driver.spawnMany(8);
  const bucket = temp.directory();
  const files = countingFiles();
  const looping = greedy.call('count', { bucket, ...files, workMs: 0, waitMs: 90_000 });
  const counted = await Promise.all(
    others.map((other) =>
      other.call('count', { bucket, ...files, turns: TURNS, workMs: 0, waitMs: 90_000 }),
    ),
  );
  await greedy.call('stop', {});
  const { turns } = await looping;
  expect(turnsIn(files.counter)).toEqual(upTo(turns + others.length * TURNS));
  // Twice round the line, as above.
  const most = 2 * (others.length + 1);
  expect(Math.max(...counted.map(({ mostAhead }) => mostAhead))).toBeLessThanOrEqual(most);
  expect(readdirSync(bucket)).toEqual([]);
});
