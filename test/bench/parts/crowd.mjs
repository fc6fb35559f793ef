import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { CONTENDERS } from '../contenders/index.mjs';
import { Participant, withParticipants } from '../harness/participant.mjs';
import { summary } from '../harness/statistics.mjs';

const DESCRIPTORS_A_LOCK = 2;
/** For what a process has open besides. */
const SPARE_DESCRIPTORS = 1_000;

/**
 * Nanoseconds of an acquire and release that nobody disputes, `sync` and `async`, while the process
 * holds so many `others`, or as many as this machine lets it.
 */
export async function crowd(work, { others, rounds, count }) {
  const result = {};
  for (const held of others.map((wanted) => Math.min(wanted, mostHeld()))) {
    for (const name of CONTENDERS) {
      const measure = name === 'c' ? besidesInC : besides;
      (result[name] ??= {})[held] = await measure(work, name, { others: held, rounds, count });
    }
  }
  return result;
}

/** Node.js raises its own limit as far as it may. */
function mostHeld() {
  const [, limit] = /^Max open files +\S+ +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  const descriptors = limit === 'unlimited' ? Infinity : Number(limit);
  return Math.floor((descriptors - SPARE_DESCRIPTORS) / DESCRIPTORS_A_LOCK);
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
