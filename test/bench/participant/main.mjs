// A process that takes part in a measurement:
//   main.mjs <contender> <directory> [options as JSON]
// Reads lines from its standard input and answers each by one, or several:
//   acquire                       waiting, then held <asked for> <held>
//   release                       released <when the release began>
//   abort                         aborted <when> <when the acquire rejected>
//   contend <end> <file>          contended <failed acquires>
//   queue <waiters> <cap in ms>   queued <JSON>
//   crowd <JSON>                  crowded <JSON>
// Moments are nanoseconds of the monotonic clock, which all processes share.
import { createInterface } from 'node:readline';

import { contend } from './contend.mjs';
import { crowd } from './crowd.mjs';
import { now } from './now.mjs';
import { queue } from './queue.mjs';

const [name, directory, options = '{}'] = process.argv.slice(2);
const answer = (...words) => process.stdout.write(`${words.join(' ')}\n`);

// An idle process, for what a process costs that waits for nothing.
const contender = name === 'idle' ? undefined : await import(`../contenders/${name}.mjs`);
const lock = await contender?.open(directory, JSON.parse(options));

let release;
let aborting;

const commands = {
  async acquire() {
    aborting = new AbortController();
    const requested = now();
    const acquiring = lock.acquire(aborting.signal);
    answer('waiting');
    try {
      release = await acquiring;
      answer('held', requested, now());
    } catch (error) {
      if (!aborting.signal.aborted) throw error;
      answer('aborted', aborting.signal.reason, now());
    }
  },
  async release() {
    const released = now();
    await release();
    answer('released', released);
  },
  abort: () => aborting.abort(now()),
  contend: async (end, file) => answer('contended', await contend(lock, Number(end), file)),
  async queue(waiters, capMs) {
    const open = contender.ownerIsOpenFile ? () => contender.open(directory) : () => lock;
    answer('queued', JSON.stringify(await queue(open, Number(waiters), Number(capMs))));
  },
  crowd: async (sizes) =>
    answer('crowded', JSON.stringify(await crowd(contender, directory, JSON.parse(sizes)))),
};

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [command, ...words] = line.split(' ');
    commands[command](...words);
  })
  .on('close', () => process.exit());
answer('ready');
