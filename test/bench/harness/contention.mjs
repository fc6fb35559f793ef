import { summary } from './statistics.mjs';

/**
 * What is to be told of processes that took turns from `start` to `end`. Of each process: the
 * moments when it asked for the lock, held it and let it go, three by three.
 */
export function contention(processes, start, end) {
  const turns = processes
    .flatMap((moments, process) => turnsOf(moments, process))
    .sort((a, b) => a.held - b.held);
  const served = processes.map(() => 0);
  const gaps = [];
  let longestWait = 0;
  for (const [at, turn] of turns.entries()) {
    // A wait that the end cuts short has lasted as long as that, at least.
    longestWait = Math.max(longestWait, Math.min(turn.held, end) - turn.requested);
    if (turn.held > end) continue;
    served[turn.process] += 1;
    const before = turns[at - 1];
    const waited = before !== undefined && turn.requested < before.released;
    if (waited && before.process !== turn.process) gaps.push(turn.held - before.released);
  }
  const total = served.reduce((sum, count) => sum + count, 0);
  const perSecond = total / ((end - start) / 1e9);
  return {
    served: served.sort((a, b) => b - a),
    perSecond,
    longestWait,
    handover: handoverOf(gaps),
  };
}

/** Undefined where nobody ever got the lock while somebody else waited. */
function handoverOf(gaps) {
  return gaps.length === 0 ? undefined : summary(gaps);
}

function turnsOf(moments, process) {
  const turns = [];
  for (let at = 0; at < moments.length; at += 3) {
    const [requested, held, released] = moments.subarray(at, at + 3);
    turns.push({ process, requested, held, released });
  }
  return turns;
}
