import { CONTENDERS, NAMED_LOCK, split } from '../contenders/index.mjs';
import { Participant, withParticipants } from '../harness/participant.mjs';
import { median, summary } from '../harness/statistics.mjs';

/**
 * Nanoseconds a hand-over among the waiting calls of one process: `runs` are pairs of how many and
 * for how many rounds. `served`: how many got the lock before the cap.
 */
export async function queue(work, { runs, capMs }) {
  const { able, reasons } = await split('queue', [...CONTENDERS, NAMED_LOCK]);
  const result = { ...reasons };
  for (const [waiters, rounds] of runs) {
    const samples = new Map(able.map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const name of able) samples.get(name).push(await handOvers(work, name, waiters, capMs));
    }
    for (const [name, all] of samples) (result[name] ??= {})[waiters] = figure(all);
  }
  return result;
}

async function handOvers(work, name, waiters, capMs) {
  const participant = new Participant(work, name, work.directory());
  return await withParticipants([participant], async () => {
    participant.send('queue', waiters, capMs);
    const [json] = await participant.expect('queued');
    return JSON.parse(json);
  });
}

function figure(all) {
  const served = median(all.map(({ served }) => served));
  const measured = all.filter(({ served }) => served > 0);
  return {
    served,
    ...(measured.length > 0 && summary(measured.map(({ nanoseconds }) => nanoseconds))),
  };
}
