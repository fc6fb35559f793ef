import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { summary } from '../harness/statistics.mjs';
import { time, timeSync } from '../harness/timing.mjs';

const AT_ONCE = 100;

/** What an acquire and release costs while `others` other locks are held by this process. */
export async function crowd(contender, directory, { others, rounds, count }) {
  await hold(contender, directory, others);
  const lock = await contender.open(directory);
  const turn = async () => (await lock.acquire())();
  const turnSync = () => lock.acquireSync()();
  const samples = { async: [], sync: [] };
  // The first round only warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const async = await time(count, turn);
    const sync = lock.acquireSync === undefined ? undefined : timeSync(count, turnSync);
    if (round === 0) continue;
    samples.async.push(async);
    if (sync !== undefined) samples.sync.push(sync);
  }
  return {
    async: summary(samples.async),
    ...(samples.sync.length > 0 && { sync: summary(samples.sync) }),
  };
}

async function hold(contender, directory, others) {
  for (let from = 0; from < others; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, others - from) }, async (_, at) => {
      const other = join(directory, `other-${from + at}`);
      mkdirSync(other);
      await (await contender.open(other)).acquire();
    });
    await Promise.all(some);
  }
}
