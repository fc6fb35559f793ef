import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { CONTENDERS } from '../contenders/index.mjs';
import { contention } from '../harness/contention.mjs';
import { Participant, withParticipants } from '../harness/participant.mjs';
import { median, summary } from '../harness/statistics.mjs';
import { now } from '../participant/now.mjs';

/**
 * Processes that take turns, as many as they get: `runs` are pairs of how many and for how many
 * seconds. Of each contender and number of processes the figures of all rounds.
 */
export async function contended(work, { rounds, runs }) {
  const outcomes = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const name of CONTENDERS) {
      for (const [processes, outcome] of await takeTurns(work, name, runs)) {
        ((outcomes[name] ??= {})[processes] ??= []).push(outcome);
      }
    }
  }
  return Object.fromEntries(
    Object.entries(outcomes).map(([name, byProcesses]) => [
      name,
      Object.fromEntries(
        Object.entries(byProcesses).map(([processes, rounds]) => [processes, figures(rounds)]),
      ),
    ]),
  );
}

/** Starts as many processes as the largest run needs; in a smaller one the others do nothing. */
async function takeTurns(work, name, runs) {
  const directory = work.directory();
  const most = Math.max(...runs.map(([processes]) => processes));
  const everybody = Array.from({ length: most }, () => new Participant(work, name, directory));
  return await withParticipants(everybody, async () => {
    const outcomes = [];
    for (const [processes, seconds] of runs) {
      outcomes.push([processes, await compete(work, everybody.slice(0, processes), seconds)]);
    }
    return outcomes;
  });
}

async function compete(work, participants, seconds) {
  const fileOf = (at) => join(work.path, `moments-${at}`);
  const start = now();
  const end = start + Math.round(seconds * 1e9);
  for (const [at, participant] of participants.entries()) {
    participant.send('contend', end, fileOf(at));
  }
  let failed = 0;
  for (const participant of participants) {
    failed += Number((await participant.expect('contended'))[0]);
  }
  const moments = participants.map((_, at) => readMoments(fileOf(at)));
  return { ...contention(moments, start, end), failed };
}

function readMoments(file) {
  // Copied, since the buffer of a short file is a part of a larger one.
  return new Float64Array(Uint8Array.from(readFileSync(file)).buffer);
}

function figures(rounds) {
  const share = (pick) =>
    summary(rounds.map(({ served }) => pick(served) / Math.max(1, sum(served))));
  const ofHandover = (key) => median(rounds.flatMap(({ handover }) => handover?.[key] ?? []));
  return {
    perSecond: summary(rounds.map(({ perSecond }) => perSecond)),
    most: summary(rounds.map(({ served }) => served[0])),
    least: summary(rounds.map(({ served }) => served.at(-1))),
    mostShare: share((served) => served[0]),
    leastShare: share((served) => served.at(-1)),
    longestWait: summary(rounds.map(({ longestWait }) => longestWait)),
    handover: { median: ofHandover('median'), p99: ofHandover('p99') },
    failed: sum(rounds.map(({ failed }) => failed)),
    // Of the first round, from the most to the least served: what a plot shows.
    served: rounds[0].served,
  };
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
