import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const main = join(dirname(fileURLToPath(import.meta.url)), '..', 'participant', 'main.mjs');
const running = new Set();

// However the benchmark ends, none of its processes stays.
process.on('exit', () => {
  for (const participant of running) participant.kill();
});

/**
 * A process that takes part in a measurement (see participant/main.mjs). `ready` once it has opened
 * its lock.
 */
export class Participant {
  #child;
  #errors = '';
  #lines = [];
  #awaited = [];

  /** `options`: of the contender, if it takes any. */
  constructor(work, contender, directory, options = {}) {
    const [file, ...args] =
      contender === 'c'
        ? [work.participant, directory]
        : [process.execPath, main, contender, directory, JSON.stringify(options)];
    this.name = contender;
    this.#child = spawn(file, args, { stdio: 'pipe' });
    running.add(this);
    this.gone = once(this.#child, 'exit').then(([code, signal]) => {
      running.delete(this);
      this.#fail(`${contender} ended with ${signal ?? code}: ${this.#errors.slice(-2_000)}`);
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.on('data', (data) => (this.#errors += data));
    createInterface({ input: this.#child.stdout }).on('line', (line) =>
      this.#take(line.split(' ')),
    );
    this.ready = this.expect('ready');
  }

  get pid() {
    return this.#child.pid;
  }

  send(...words) {
    this.#child.stdin.write(`${words.join(' ')}\n`);
  }

  /** The words of the next line, which has to begin with `word`, as numbers where they are some. */
  async expect(word) {
    const [first, ...words] = await new Promise((resolve, reject) => {
      const line = this.#lines.shift();
      if (line !== undefined) resolve(line);
      else this.#awaited.push({ resolve, reject });
    });
    if (first !== word) throw new Error(`${this.name} answered ${first} in place of ${word}`);
    return words;
  }

  /** Asks for the lock; `held` resolves to the moments when it was asked for and held. */
  async acquire() {
    this.send('acquire');
    await this.expect('waiting');
    return { held: this.expect('held').then((moments) => moments.map(Number)) };
  }

  /** Releases, and resolves to the moment when that began. */
  async release() {
    this.send('release');
    const [released] = await this.expect('released');
    return Number(released);
  }

  kill() {
    this.#child.kill('SIGKILL');
  }

  async end() {
    this.kill();
    await this.gone;
  }

  #take(line) {
    const awaited = this.#awaited.shift();
    if (awaited === undefined) this.#lines.push(line);
    else awaited.resolve(line);
  }

  #fail(message) {
    for (const { reject } of this.#awaited.splice(0)) reject(new Error(message));
  }
}

/** Runs `body` with participants that are ready, and ends them. */
export async function withParticipants(participants, body) {
  try {
    await Promise.all(participants.map((participant) => participant.ready));
    return await body(participants);
  } finally {
    await Promise.all(participants.map((participant) => participant.end()));
  }
}
