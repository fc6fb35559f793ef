import { CONTENDERS, contender } from '../contenders/index.mjs';
import { Participant, withParticipants } from '../harness/participant.mjs';
import { summary } from '../harness/statistics.mjs';
import { letWait } from '../harness/wait.mjs';

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
  await letWait(pair.pollMs);
  const released = await holder.release();
  const [, taken] = await held;
  pair.samples.push(taken - released);
  pair.holder = waiter;
  pair.waiter = holder;
}
