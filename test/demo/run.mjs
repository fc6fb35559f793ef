// The demonstration: worker processes contend for one bucket on disk, while holders are killed.
// Exit code 0: proven. 1: not. 64: wrong usage.
import { setTimeout as sleep } from 'node:timers/promises';
import { Board } from './board.mjs';
import { createFiles, removeFiles } from './files.mjs';
import { Fleet } from './fleet.mjs';
import { USAGE, UsageError, readOptions } from './options.mjs';
import { summarize } from './summary.mjs';
import { show } from './table.mjs';

const EXIT_USAGE = 64;
const EXIT_INTERRUPTED = 130;

const options = optionsOrExit();
const files = createFiles();
const board = new Board(options.workers);
const stopping = new AbortController();
const fleet = new Fleet(files, board, () => stopping.abort());

// However it ends, no process and no file stays.
process.on('exit', () => {
  fleet.killAll();
  removeFiles(files);
});
// Nobody reads any more.
process.stdout.on('error', () => process.exit(1));

let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // Once for the summary, twice for the impatient.
    if (interrupted) process.exit(EXIT_INTERRUPTED);
    interrupted = true;
    stopping.abort();
  });
}

const startedAt = performance.now();
console.log(`${options.workers} workers take turns on ${files.bucket}. Ctrl+C stops.\n`);
const endShow = show(board, process.stdout, startedAt);
stopping.signal.addEventListener('abort', () => fleet.stop());
await fleet.start(options.workers, options.killEveryMs);
// Counted from here: how long processes take to start is no part of it.
await sleep(options.seconds * 1000, undefined, { signal: stopping.signal }).catch(() => {});
await fleet.stop();
endShow();

const { lines, proven } = await summarize(
  files,
  fleet,
  board,
  (performance.now() - startedAt) / 1000,
);
console.log(lines.join('\n'));
process.exitCode = proven ? 0 : 1;

function optionsOrExit() {
  try {
    const read = readOptions(process.argv.slice(2));
    if (!read.help) return read;
    console.log(USAGE);
    return process.exit(0);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    return process.exit(EXIT_USAGE);
  }
}
