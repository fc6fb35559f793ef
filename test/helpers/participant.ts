import type { Socket } from 'node:net';

import { RemoteError } from './protocol.js';
import type { CommandName, Commands, FromParticipant, Turn } from './protocol.js';
import { killNow } from './reaper.js';
import { until } from './until.js';

/** No command of a scenario takes longer. Late means broken: the test fails and says which one. */
const ANSWER_MS = 90_000;

interface Pending {
  readonly command: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** How a process ended, for messages. */
export type Ending = { readonly why: string };

/** One process or worker thread that takes part in a scenario, seen from the driver. */
export class Participant {
  readonly id: number;
  /** As it reports it itself: its PID in its own PID namespace. */
  readonly pid: number;
  /** Resolves once the process is gone and reaped, or the thread has ended. */
  readonly ended: Promise<Ending>;
  /** Called for each turn that a `count` loop reports. */
  onTurn: (turn: Turn) => void = () => undefined;

  readonly #socket: Socket;
  readonly #killPid: number | undefined;
  readonly #pending = new Map<number, Pending>();
  #requests = 0;
  #ending: Ending | undefined;

  constructor(options: {
    id: number;
    pid: number;
    socket: Socket;
    /** What to signal, as this side sees it. Undefined for a thread. */
    killPid: number | undefined;
    ended: Promise<Ending>;
  }) {
    this.id = options.id;
    this.pid = options.pid;
    this.#socket = options.socket;
    this.#killPid = options.killPid;
    this.ended = options.ended.then((ending) => {
      this.#settleAll(ending);
      return ending;
    });
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  call<C extends CommandName>(
    command: C,
    args: Commands[C]['args'],
  ): Promise<Commands[C]['result']>;
  call(command: CommandName, args: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ending !== undefined) {
        reject(new Error(`${command}: the participant ended before: ${this.#ending.why}`));
        return;
      }
      const request = (this.#requests += 1);
      const timer = setTimeout(() => {
        this.#pending.delete(request);
        reject(new Error(`${command}: no answer within ${ANSWER_MS} ms`));
      }, ANSWER_MS);
      this.#pending.set(request, { command, resolve, reject, timer });
      this.#socket.write(`${JSON.stringify({ request, command, args })}\n`);
    });
  }

  /** Answers the error that the command is bound to end with. */
  async callToFail(
    command: CommandName,
    args: Commands[CommandName]['args'],
  ): Promise<RemoteError> {
    try {
      const result: unknown = await this.call(command, args);
      throw new Error(`${command} succeeded: ${JSON.stringify(result)}`);
    } catch (error) {
      if (error instanceof RemoteError) return error;
      throw error;
    }
  }

  receive(message: FromParticipant): void {
    if ('note' in message) this.onTurn(message.note);
    if (!('request' in message)) return;
    const pending = this.#pending.get(message.request);
    if (pending === undefined) return;
    this.#pending.delete(message.request);
    clearTimeout(pending.timer);
    if ('error' in message) pending.reject(new RemoteError(pending.command, message.error));
    else pending.resolve(message.result);
  }

  /** SIGKILL, and waits until nothing is left of the process. */
  async kill(): Promise<void> {
    if (this.#killPid === undefined) throw new Error('a thread cannot be killed');
    if (!this.hasEnded) killNow(this.#killPid);
    await this.ended;
  }

  /** Stops the process and waits until it stands still. */
  async suspend(stateOf: (pid: number) => string): Promise<void> {
    const pid = this.#killPid;
    if (pid === undefined) throw new Error('a thread cannot be suspended');
    process.kill(pid, 'SIGSTOP');
    await until('the process stands still', () => stateOf(pid) === 'T');
  }

  resume(): void {
    if (this.#killPid !== undefined) process.kill(this.#killPid, 'SIGCONT');
  }

  /** What the driver's side calls the process; for tracers. */
  get tracePid(): number {
    if (this.#killPid === undefined) throw new Error('a thread has no PID of its own');
    return this.#killPid;
  }

  #settleAll(ending: Ending): void {
    this.#ending = ending;
    for (const { command, reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(new Error(`${command}: the participant ended: ${ending.why}`));
    }
    this.#pending.clear();
  }
}
