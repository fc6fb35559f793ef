import { execFileSync } from 'node:child_process';

import { CONTENDERS } from '../contenders/index.mjs';
import { Participant, withParticipants } from '../harness/participant.mjs';
import { summary } from '../harness/statistics.mjs';

/**
 * Nanoseconds of an acquire and release that nobody disputes, `sync` and `async`, while the process
 * holds so many `others`.
 */
export async function crowd(work, { others, rounds, count }) {
  const result = {};
  for (const held of others) {
    for (const name of CONTENDERS) {
      const measure = name === 'c' ? besidesInC : besides;
      (result[name] ??= {})[held] = await measure(work, name, { others: held, rounds, count });
    }
  }
  return result;
}

async function besides(work, name, sizes) {
  const participant = new Participant(work, name, work.directory());
  return await withParticipants([participant], async () => {
    participant.send('crowd', JSON.stringify(sizes));
    const [json] = await participant.expect('crowded');
    return JSON.parse(json);
  });
}

function besidesInC(work, _name, { others, rounds, count }) {
  const args = [work.directory(), rounds + 1, count, others].map(String);
  const output = execFileSync(work.bare, args, { encoding: 'utf8' });
  // The first round only warms up.
  return { sync: summary(output.trim().split('\n').slice(1).map(Number)) };
}
