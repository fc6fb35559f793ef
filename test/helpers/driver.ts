import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { afterAll, afterEach, beforeAll } from 'vitest';

import { Participant } from './participant.js';
import type { Ending } from './participant.js';
import { childrenOf } from './proc.js';
import { defaultProgram } from './program.js';
import type { ParticipantProgram } from './program.js';
import type { CommandName, Commands, FromParticipant } from './protocol.js';
import { killNow, onExit } from './reaper.js';

export interface SpawnOptions {
  /** Runs the participant as another user. */
  readonly uid?: number;
  /** A program, with arguments, that starts its own arguments as its only child. */
  readonly wrapper?: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
}

/** `N` participants: as a tuple where `N` is a number written in the test. */
type Participants<N extends number, List extends Participant[] = []> = number extends N
  ? Participant[]
  : List['length'] extends N
    ? List
    : Participants<N, [...List, Participant]>;

interface Connection {
  readonly socket: Socket;
  readonly pid: number;
}

/**
 * Starts participants and talks to them over loopback TCP. Processes get files, never pipes, for
 * their output, so that nothing but the socket ties them to this process. Every process is
 * killed after its test, pooled ones after the last test of the file, all of them at exit.
 */
export class Driver {
  /** Of all drivers, since participants of two may meet. */
  static #ids = 0;

  #server: Server | undefined;
  #port = 0;
  #outputs = '';
  readonly #hellos = new Map<number, (connection: Connection) => void>();
  readonly #participants = new Set<Participant>();
  readonly #processes = new Set<ChildProcess>();
  readonly #detached = new Set<number>();
  readonly #pool: Participant[] = [];
  readonly #receivers = new WeakMap<Socket, Participant>();
  readonly #program: () => ParticipantProgram;

  /** The program is asked for when a participant is started: a test may have to prepare it. */
  constructor(program: () => ParticipantProgram = () => defaultProgram) {
    this.#program = program;
  }

  async start(): Promise<void> {
    this.#outputs = mkdtempSync(join(tmpdir(), 'bucketlock-output-'));
    const server = createServer((socket) => {
      this.#welcome(socket);
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  /** A new process that lives until the end of the test at the latest. */
  async spawn(options: SpawnOptions = {}): Promise<Participant> {
    const id = this.#nextId();
    const hello = this.#expect(id);
    const program = this.#program();
    const [command, ...args] = [
      ...(options.wrapper ?? []),
      ...program.command,
      ...[program.participant, String(this.#port), String(id)],
    ] as const;
    const output = join(this.#outputs, `${id}.txt`);
    const outputFd = openSync(output, 'w');
    const child = spawn(command, args, {
      stdio: ['ignore', outputFd, outputFd],
      env: {
        ...process.env,
        ...program.env,
        BUCKETLOCK_TEST_ENTRY: program.entry,
        ...options.env,
      },
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    });
    closeSync(outputFd);
    this.#processes.add(child);
    const ended = new Promise<Ending>((resolve) => {
      child.once('error', (error) => {
        resolve({ why: error.message });
      });
      child.once('exit', (code, signal) => {
        this.#processes.delete(child);
        resolve({ why: `${signal ?? `code ${String(code)}`}. ${readFileSync(output, 'utf8')}` });
      });
    });
    const early = ended.then(({ why }) => {
      throw new Error(`the participant ended before it connected: ${why}`);
    });
    const { socket, pid } = await Promise.race([hello, early]);
    early.catch(() => undefined);
    const started = child.pid;
    const killPid = options.wrapper === undefined ? started : childrenOf(started ?? 0)[0];
    return this.#join(new Participant({ id, pid, socket, killPid, ended }), socket);
  }

  async spawnMany<N extends number>(count: N): Promise<Participants<N>> {
    const spawned = await Promise.all(Array.from({ length: count }, () => this.spawn()));
    return spawned as Participants<N>;
  }

  /** Long-lived processes, the same ones for every test of the file. */
  async pool<N extends number>(count: N): Promise<Participants<N>> {
    const living = this.#pool.filter((member) => !member.hasEnded);
    const fresh = await this.spawnMany<number>(Math.max(0, count - living.length));
    this.#pool.splice(0, Infinity, ...living, ...fresh);
    return this.#pool.slice(0, count) as Participants<N>;
  }

  /** A worker thread of `host` as a participant of its own. */
  async startWorker(host: Participant): Promise<Participant> {
    const id = this.#nextId();
    const hello = this.#expect(id);
    await host.call('startWorker', { id });
    const { socket, pid } = await hello;
    const ended = new Promise<Ending>((resolve) => {
      socket.once('close', () => {
        resolve({ why: 'the thread closed its connection' });
      });
    });
    return this.#join(new Participant({ id, pid, socket, killPid: undefined, ended }), socket);
  }

  /** A detached child of `parent` as a participant of its own. It outlives its parent. */
  async spawnDetached(parent: Participant): Promise<Participant> {
    const id = this.#nextId();
    const hello = this.#expect(id);
    const killPid = await parent.call('spawnDetached', { id });
    this.#detached.add(killPid);
    const { socket, pid } = await hello;
    const ended = new Promise<Ending>((resolve) => {
      socket.once('close', () => {
        this.#detached.delete(killPid);
        resolve({ why: 'the process closed its connection' });
      });
    });
    return this.#join(new Participant({ id, pid, socket, killPid, ended }), socket);
  }

  /** Gives all the same command in one go, once all of them are known to listen. */
  async barrier<C extends CommandName>(
    participants: readonly Participant[],
    command: C,
    args: Commands[C]['args'],
  ): Promise<Commands[C]['result'][]> {
    await Promise.all(participants.map((participant) => participant.call('ping', {})));
    return Promise.all(participants.map((participant) => participant.call(command, args)));
  }

  /** Ends what the test started. Pooled processes stay and let go of what they hold. */
  async endTest(): Promise<void> {
    const pooled = new Set(this.#pool.filter((member) => !member.hasEnded));
    const others = [...this.#participants].filter((participant) => !pooled.has(participant));
    this.killAll((pid) => [...pooled].some((member) => member.tracePid === pid));
    await Promise.all(others.map((participant) => participant.ended));
    await Promise.all([...pooled].map((member) => member.call('reset', {})));
  }

  async stop(): Promise<void> {
    this.killAll();
    await Promise.all([...this.#participants].map((participant) => participant.ended));
    this.#server?.close();
    rmSync(this.#outputs, { recursive: true, force: true });
  }

  killAll(spare: (pid: number) => boolean = () => false): void {
    for (const child of this.#processes) {
      if (child.pid === undefined || spare(child.pid)) continue;
      for (const pid of [...childrenOf(child.pid), child.pid]) killNow(pid);
    }
    for (const pid of this.#detached) killNow(pid);
  }

  #nextId(): number {
    Driver.#ids += 1;
    return Driver.#ids;
  }

  #expect(id: number): Promise<Connection> {
    return new Promise((resolve) => this.#hellos.set(id, resolve));
  }

  #join(participant: Participant, socket: Socket): Participant {
    this.#participants.add(participant);
    void participant.ended.then(() => {
      this.#participants.delete(participant);
      socket.destroy();
    });
    this.#receivers.set(socket, participant);
    return participant;
  }

  #welcome(socket: Socket): void {
    // A participant that is killed may reset its connection: its end is seen elsewhere.
    socket.on('error', () => undefined);
    socket.setNoDelay(true);
    const lines = createInterface({ input: socket, crlfDelay: Infinity });
    lines.on('line', (line) => {
      const message = JSON.parse(line) as FromParticipant;
      if ('hello' in message) {
        this.#hellos.get(message.hello.id)?.({ socket, pid: message.hello.pid });
        this.#hellos.delete(message.hello.id);
      } else {
        this.#receivers.get(socket)?.receive(message);
      }
    });
    lines.on('error', () => undefined);
  }
}

/** A driver for the tests of one file, whose processes never outlive them. */
export function useDriver(program?: () => ParticipantProgram): Driver {
  const driver = new Driver(program);
  let forget: () => void = () => undefined;
  beforeAll(async () => {
    forget = onExit(() => {
      driver.killAll();
    });
    await driver.start();
  });
  afterEach(() => driver.endTest());
  afterAll(async () => {
    await driver.stop();
    forget();
  });
  return driver;
}
