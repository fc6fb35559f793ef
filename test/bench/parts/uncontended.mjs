import { execFileSync } from 'node:child_process';

import { CONTENDERS, NAMED_LOCK, contender } from '../contenders/index.mjs';
import { summary } from '../harness/statistics.mjs';
import { time, timeSync } from '../harness/timing.mjs';

/**
 * Nanoseconds of an acquire and release that nobody disputes: of each contender, `sync` and `async`,
 * of two `trips` through libuv's pool that do nothing there, and of two that make the C program's
 * calls there, `callsInTrips`.
 */
export async function uncontended(work, { rounds, count }) {
  const measures = await measuresOf(work, count);
  // All of them in each round, so that what else the machine does falls on all alike. The first
  // round only warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { measure, samples } of measures) {
      const nanoseconds = await measure();
      if (round > 0) samples.push(nanoseconds);
    }
  }
  const result = {};
  for (const { name, face, samples } of measures) {
    result[name] = { ...result[name], [face]: summary(samples) };
  }
  return result;
}

async function measuresOf(work, count) {
  const trip = work.emptyTrip();
  const { acquire, release } = work.lockfileTrips();
  const measures = [];
  const add = (name, face, measure) => measures.push({ name, face, measure, samples: [] });
  const bucket = work.directory();
  add('c', 'sync', () =>
    Number(execFileSync(work.bare, [bucket, '1', String(count), '0'], { encoding: 'utf8' })),
  );
  add('trips', 'async', () =>
    time(count, async () => {
      await trip();
      await trip();
    }),
  );
  add('callsInTrips', 'async', () =>
    time(count, async () => {
      await acquire();
      await release();
    }),
  );
  for (const name of [...CONTENDERS, NAMED_LOCK]) {
    const { open } = await contender(name);
    if (open === undefined) continue;
    const lock = await open(work.directory());
    if (lock.acquireSync !== undefined) {
      add(name, 'sync', () => timeSync(count, () => lock.acquireSync()()));
    }
    add(name, 'async', () => time(count, async () => (await lock.acquire())()));
  }
  return measures;
}
