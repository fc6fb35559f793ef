// One turn: what a worker does while it holds the lock. Nothing here would stand a second holder,
// and all of it is journalled, so that audit.mjs can tell afterwards. A worker may be killed anywhere.
import { appendFileSync, closeSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { COUNTER_WIDTH } from './files.mjs';

/** Microseconds of a clock that all processes of the machine share. */
export function now() {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Adds one to the counter by reading, working for a while, and writing. */
export async function takeTurn(files, worker, work) {
  const note = (...words) => appendFileSync(files.journal, `${words.join(' ')}\n`);
  const at = now();
  const read = Number(readFileSync(files.counter, 'utf8'));
  note('begin', worker, read, at);
  if (!enter(files.sentinel)) {
    // A killed worker's, if the lock is worth anything: the audit knows whether it is.
    note('left', worker);
    unlinkSync(files.sentinel);
    if (!enter(files.sentinel)) throw new Error('another worker has entered at the same time');
  }
  // A kill in the first half must leave the counter as it was, one in the second half has counted.
  await work();
  writeCounter(files.counter, read + 1);
  await work();
  // Fails if somebody else took it for left behind.
  unlinkSync(files.sentinel);
  note('end', worker);
}

/** O_EXCL: of several only one gets in. */
function enter(sentinel) {
  try {
    closeSync(openSync(sentinel, 'wx'));
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function writeCounter(counter, value) {
  const fd = openSync(counter, 'r+');
  try {
    writeSync(fd, String(value).padStart(COUNTER_WIDTH), 0);
  } finally {
    closeSync(fd);
  }
}
