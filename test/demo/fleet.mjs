// The worker processes: starts them, talks to them over loopback TCP, kills one that holds the lock
// now and again, and replaces it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { now } from './turn.mjs';

const PROGRAM = fileURLToPath(new URL('worker.mjs', import.meta.url));
/** A holder is killed up to so long after it said that it holds, to be met anywhere in its turn. */
const AIM_MS = 8;
/** How long workers may take to finish their turn when asked to stop. */
const PATIENCE_MS = 10_000;
/** What a terminal, or whoever ends a whole group of processes, sends to a worker that only starts. */
const INTERRUPTIONS = ['SIGINT', 'SIGHUP', 'SIGTERM'];

export class Fleet {
  /** When each killed worker was killed. */
  kills = new Map();
  /** What no worker should ever do. */
  failures = [];

  #files;
  #board;
  #giveUp;
  #server = createServer((socket) => this.#welcome(socket));
  /** Living workers by their number; a number is given once. */
  #workers = new Map();
  #started = 0;
  #stopping = false;
  #stopped;
  #killing;
  #killDue = false;
  /** Of the first workers, those that have not connected yet. */
  #missing = 0;
  #goOn = () => {};

  /** `giveUp` is called when there is no point in going on. */
  constructor(files, board, giveUp) {
    this.#files = files;
    this.#board = board;
    this.#giveUp = giveUp;
  }

  /** Resolves when all workers have connected, or there is no point in waiting for them. */
  async start(workers, killEveryMs) {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    if (this.#stopping) return;
    this.#missing = workers;
    for (let slot = 0; slot < workers; slot += 1) this.#spawn(slot);
    await new Promise((resolve) => (this.#goOn = resolve));
    if (this.#stopping) return;
    this.#killing = setInterval(() => (this.#killDue = true), killEveryMs);
  }

  /** Resolves when all workers have ended. */
  stop() {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop() {
    this.#stopping = true;
    this.#goOn();
    clearInterval(this.#killing);
    const impatience = setTimeout(() => {
      this.#fail('workers did not stop when asked to');
      this.killAll();
    }, PATIENCE_MS);
    const ended = [...this.#workers.values()].map((worker) => worker.ended);
    for (const { socket } of this.#workers.values()) socket?.write('stop\n');
    await Promise.all(ended);
    clearTimeout(impatience);
    this.#server.close();
  }

  killAll() {
    for (const { child } of this.#workers.values()) child.kill('SIGKILL');
  }

  #spawn(slot) {
    const number = (this.#started += 1);
    const args = [PROGRAM, String(this.#server.address().port), String(number)];
    // A file and no pipe: nothing but the socket ties a worker to us.
    const log = openSync(this.#files.log, 'a');
    const child = spawn(process.execPath, [...args, this.#files.directory], {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    }).then((how) => this.#ended(number, how));
    this.#workers.set(number, { slot, child, ended });
    this.#board.started(slot, number, child.pid);
  }

  #ended(number, how) {
    const { slot, socket } = this.#workers.get(number);
    this.#workers.delete(number);
    socket?.destroy();
    this.#board.ended(slot);
    if (this.kills.has(number)) {
      if (!this.#stopping) this.#spawn(slot);
    } else if (INTERRUPTIONS.includes(how)) {
      // We are told so, too, but perhaps later.
      this.#giveUp();
    } else if (!this.#stopping || how !== 'exit code 0') {
      this.#fail(`worker ${number} ended: ${how}`);
    }
  }

  #welcome(socket) {
    let worker;
    socket.setNoDelay(true);
    const lines = createInterface({ input: socket });
    // A killed worker's connection may be reset; its end is seen by `exit`.
    for (const stream of [socket, lines]) stream.on('error', () => {});
    lines.on('line', (line) => {
      const message = JSON.parse(line);
      if (worker === undefined) {
        worker = this.#workers.get(message.worker);
        if (worker === undefined) return socket.destroy();
        worker.socket = socket;
        worker.number = message.worker;
        if (this.#stopping) socket.write('stop\n');
        if ((this.#missing -= 1) === 0) this.#goOn();
      }
      this.#board.heard(worker.slot, worker.number, message);
      if (message.state === 'holding' && this.#killDue) this.#killSoon(worker);
    });
  }

  #killSoon({ child, number }) {
    this.#killDue = false;
    setTimeout(() => {
      if (this.#stopping || !this.#workers.has(number)) return;
      // Noted before it is done: nobody may hold the lock after the worker earlier than this.
      this.kills.set(number, now());
      this.#board.killed();
      child.kill('SIGKILL');
    }, Math.random() * AIM_MS);
  }

  #fail(what) {
    this.failures.push(what);
    this.#giveUp();
  }
}
