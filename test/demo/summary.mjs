// The closing summary, and the verdict.
import { readdirSync, readFileSync } from 'node:fs';
import { BucketLock } from 'bucketlock';
import { audit } from './audit.mjs';

const MOST_SHOWN = 20;

/** All workers have ended. Answers the lines to print, and whether the proof holds. */
export async function summarize(files, fleet, board, seconds) {
  const counter = Number(readFileSync(files.counter, 'utf8'));
  const turns = audit(readFileSync(files.journal, 'utf8'), counter, fleet.kills);
  const violations = [...fleet.failures, ...turns.violations, ...(await leftBehind(files.bucket))];
  if (turns.finished === 0) violations.push('no turn was taken');
  const lines = [
    '',
    `${board.rows.length} workers in ${seconds.toFixed(1)} s`,
    fact('turns finished', turns.finished),
    fact('turns cut short by a kill', `${turns.cut}, ${turns.cutCounted} of them counted already`),
    fact('counter', `${counter} = ${turns.finished} + ${turns.cutCounted}`),
    fact('hand-overs', turns.handOvers),
    fact('workers killed', `${fleet.kills.size}, ${turns.cut} of them in their turn`),
    fact('kill to next holder', spread(turns.recoveries)),
    fact('longest wait', `${Math.round(board.longestWaitMs)} ms`),
    '',
    ...verdict(violations, readFileSync(files.log, 'utf8')),
  ];
  return { lines, proven: violations.length === 0 };
}

function verdict(violations, log) {
  if (violations.length > 0) {
    const more = violations.length - MOST_SHOWN;
    return [
      'NOT PROVEN:',
      ...violations.slice(0, MOST_SHOWN).map((what) => `- ${what}`),
      ...(more > 0 ? [`- and ${more} more`] : []),
      ...log.trim().split('\n').slice(0, MOST_SHOWN),
    ];
  }
  return [
    'Proven: no two workers held the lock at once, no turn was lost, nothing was left behind.',
  ];
}

/** Whoever was killed last may have held the lock: one attempt must get in, and leave nothing. */
async function leftBehind(bucket) {
  const held = await new BucketLock(bucket).tryAcquire();
  if (held === null) return ['the lock is still held though every worker has ended'];
  await held.release();
  return readdirSync(bucket).map((name) => `${name} was left behind in the bucket`);
}

function spread(microseconds) {
  if (microseconds.length === 0) return 'no turn was cut short';
  const sorted = microseconds.map((value) => value / 1000).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  return `${median.toFixed(1)} ms in the middle, ${sorted.at(-1).toFixed(1)} ms at most`;
}

function fact(name, value) {
  return `  ${name.padEnd(27)}${value}`;
}
