import { CONTENDERS, NAMED_LOCK, split } from '../contenders/index.mjs';
import { Participant, withParticipants } from '../harness/participant.mjs';
import { summary } from '../harness/statistics.mjs';
import { letWait } from '../harness/wait.mjs';

/** Nanoseconds from the abort of a waiting acquire until it has rejected. */
export async function abort(work, { rounds }) {
  const { able, reasons } = await split('abort', [...CONTENDERS, NAMED_LOCK]);
  const result = { ...reasons };
  for (const name of able) result[name] = summary(await aborts(work, name, rounds));
  return result;
}

async function aborts(work, name, rounds) {
  const directory = work.directory();
  // A named lock excludes within one process only.
  const holder = new Participant(work, name, directory);
  const waiter = name === NAMED_LOCK ? holder : new Participant(work, name, directory);
  return await withParticipants([...new Set([holder, waiter])], async () => {
    await (
      await holder.acquire()
    ).held;
    const samples = [];
    for (let round = 0; round < rounds; round += 1) {
      waiter.send('acquire');
      await waiter.expect('waiting');
      await letWait();
      waiter.send('abort');
      const [aborted, rejected] = (await waiter.expect('aborted')).map(Number);
      samples.push(rejected - aborted);
    }
    return samples;
  });
}
