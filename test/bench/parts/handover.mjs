import { setTimeout as sleep } from 'node:timers/promises';

import { CONTENDERS, contender } from '../contenders/index.mjs';
import { Participant, withParticipants } from '../harness/participant.mjs';
import { summary } from '../harness/statistics.mjs';

/** A waiter waits at least this long before the release. */
const MIN_WAIT_MS = 10;
/** And up to this much longer, or its poll period, so that no poller is met at one phase. */
const SPREAD_MS = 50;
/** Of a contender that polls this slowly fewer rounds will do. */
const SLOW_POLL_MS = 500;
const SLOW_ROUNDS = 5;

/** Nanoseconds from the release in one process to the lock being held in the one that waits. */
export async function handover(work, { rounds }) {
  const pairs = await Promise.all(CONTENDERS.map((name) => pairOf(work, name)));
  const everybody = pairs.flatMap(({ holder, waiter }) => [holder, waiter]);
  return await withParticipants(everybody, async () => {
    for (const { holder } of pairs) await (await holder.acquire()).held;
    for (let round = 0; round < rounds; round += 1) {
      for (const pair of pairs) {
        if (pair.pollMs < SLOW_POLL_MS || round % SLOW_ROUNDS === 0) await handOver(pair);
      }
    }
    return Object.fromEntries(pairs.map(({ name, samples }) => [name, summary(samples)]));
  });
}

async function pairOf(work, name) {
  const { pollMs = 0 } = await contender(name);
  const directory = work.directory();
  const holder = new Participant(work, name, directory);
  return { name, pollMs, holder, waiter: new Participant(work, name, directory), samples: [] };
}

async function handOver(pair) {
  const { holder, waiter } = pair;
  const { held } = await waiter.acquire();
  await sleep(MIN_WAIT_MS + Math.random() * Math.max(SPREAD_MS, pair.pollMs));
  const released = await holder.release();
  const [, taken] = await held;
  pair.samples.push(taken - released);
  pair.holder = waiter;
  pair.waiter = holder;
}
