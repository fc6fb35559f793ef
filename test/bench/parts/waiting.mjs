import { setTimeout as sleep } from 'node:timers/promises';

import { CONTENDERS } from '../contenders/index.mjs';
import { Participant, withParticipants } from '../harness/participant.mjs';
import { cpuNanoseconds } from '../harness/process-status.mjs';
import { summary } from '../harness/statistics.mjs';
import { now } from '../participant/now.mjs';

/** Node.js processes that wait for nothing: what the processes cost by themselves. */
export const IDLE = 'idle';

/** CPU milliseconds that one waiting process burns in a minute behind a holder that keeps the lock. */
export async function waiting(work, { rounds, waiters, settleMs, windowMs }) {
  const samples = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const name of [...CONTENDERS, IDLE]) {
      const figure = await burnt(work, name, { waiters, settleMs, windowMs });
      (samples[name] ??= []).push(figure);
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, all]) => [name, summary(all)]));
}

async function burnt(work, name, { waiters, settleMs, windowMs }) {
  const directory = work.directory();
  const everybody = Array.from(
    { length: waiters + 1 },
    () => new Participant(work, name, directory),
  );
  return await withParticipants(everybody, async ([holder, ...others]) => {
    if (name !== IDLE) {
      await (
        await holder.acquire()
      ).held;
      for (const waiter of others) {
        const { held } = await waiter.acquire();
        // It is killed while it waits.
        held.catch(() => {});
      }
    }
    await sleep(settleMs);
    const total = () => others.reduce((sum, { pid }) => sum + cpuNanoseconds(pid), 0);
    const from = { burnt: total(), at: now() };
    await sleep(windowMs);
    const to = { burnt: total(), at: now() };
    const minutesWaited = (waiters * (to.at - from.at)) / 60e9;
    return (to.burnt - from.burnt) / 1e6 / minutesWaited;
  });
}
