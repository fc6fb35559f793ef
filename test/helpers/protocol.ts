/**
 * What a driver may ask of a participant (`fixtures/participant.mjs`), and what comes back. One
 * line of JSON per message, over loopback TCP.
 */

/** Which lock, and through which copy of the package. */
export interface LockRequest {
  readonly bucket: string;
  /** Options of the `BucketLock` constructor. */
  readonly lockOptions?: Readonly<Record<string, unknown>>;
  /** `import` (default), `require`, or the entry file of another copy of the package. */
  readonly copy?: string;
  /** Hands the bucket over as a `file:` URL. */
  readonly asUrl?: boolean;
}

export interface AcquireRequest extends LockRequest {
  readonly waitMs?: number;
  readonly label?: string;
}

/** A lock the participant holds. `hold` is its handle there. */
export interface Hold {
  readonly hold: string;
  readonly token: string;
}

/** `LockReport` as JSON carries it. */
export interface WireReport {
  readonly state: 'free' | 'held' | 'stale';
  readonly evidence?: string;
  readonly pid?: number;
  readonly process?: 'alive' | 'gone' | 'reused' | 'unknown';
  readonly thisProcess?: boolean;
  readonly since?: string;
  readonly label?: string;
  readonly host?: string;
  readonly token?: string;
}

/** An error as JSON carries it: its own fields beside name and message. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly reason?: string;
  readonly syscall?: string;
  readonly path?: string;
  readonly holdingPid?: number;
  readonly report?: WireReport;
}

/** Files that a loop of counted turns works on. See `fixtures/counting.mjs`. */
export interface CountRequest extends AcquireRequest {
  readonly counter: string;
  readonly sentinel: string;
  /** Stops by itself after so many turns; without it, `stop` ends the loop. */
  readonly turns?: number;
  /** How long each turn takes, beside its own work. Default: 2. */
  readonly workMs?: number;
}

export interface Resources {
  readonly descriptors: number;
  readonly threads: number;
}

/** What came of a loop of counted turns. */
export interface Counted {
  readonly turns: number;
  /** How many turns of others, at most, one wait for a turn has seen. */
  readonly mostAhead: number;
}

/** A wait that goes on while its participant does other things, without end by default. */
export interface WaitRequest extends AcquireRequest {
  /** What it is called from now on. */
  readonly wait: string;
}

/** One counted turn. */
export interface Turn {
  readonly turn: number;
  /** Whether a dead holder's sentinel had to be cleared away first. */
  readonly afterDeath: boolean;
}

interface Command<Args, Result> {
  readonly args: Args;
  readonly result: Result;
}

export interface Commands {
  readonly ping: Command<object, string>;
  readonly acquire: Command<AcquireRequest, Hold>;
  readonly acquireSync: Command<AcquireRequest, Hold>;
  readonly tryAcquire: Command<AcquireRequest, Hold | null>;
  readonly tryAcquireSync: Command<AcquireRequest, Hold | null>;
  /** Begins to acquire; answers once it stands in line, or is over already. */
  readonly startWait: Command<WaitRequest, null>;
  readonly abortWait: Command<{ readonly wait: string }, null>;
  /** Answers what the wait came to, once it is over. */
  readonly endWait: Command<{ readonly wait: string }, Hold>;
  readonly release: Command<{ readonly hold: string }, boolean>;
  readonly releaseSync: Command<{ readonly hold: string }, boolean>;
  readonly verify: Command<{ readonly hold: string }, boolean>;
  readonly inspect: Command<LockRequest, WireReport>;
  readonly inspectSync: Command<LockRequest, WireReport>;
  readonly breakLock: Command<LockRequest & { readonly token: string }, boolean>;
  /** Releases and takes again, so many times, without waiting in line; answers the last hold. */
  readonly retake: Command<LockRequest & { readonly hold: string; readonly times: number }, Hold>;
  /** Releases everything still held. */
  readonly reset: Command<object, null>;
  readonly count: Command<CountRequest, Counted>;
  /** Ends `count` and `spawnInLoop` after the turn they are in. */
  readonly stop: Command<object, null>;
  /** `acquireSync` and `releaseSync` between two marker system calls that a tracer can find. */
  readonly markedTurn: Command<LockRequest, null>;
  /** The same with the asynchronous face; the markers are on the thread pool. */
  readonly markedTurnAsync: Command<LockRequest, null>;
  /** The id of the thread pool's only thread. */
  readonly poolThread: Command<object, number>;
  /** Starts a worker thread that connects as the participant `id`. */
  readonly startWorker: Command<{ readonly id: number }, null>;
  /** Terminates a worker thread that it started; answers once that is done. */
  readonly terminateWorker: Command<{ readonly id: number }, null>;
  /** Never turns its event loop again. Never answers. */
  readonly spin: Command<object, never>;
  /** Whether the addon is loaded, by whichever thread. */
  readonly hasAddon: Command<object, boolean>;
  /** Starts a detached process that connects as the participant `id`; answers its PID. */
  readonly spawnDetached: Command<{ readonly id: number }, number>;
  /** Starts short-lived processes one after the other until `stop`; answers how many. */
  readonly spawnInLoop: Command<object, number>;
  /** How many of these the process has, not counting what it asks with. */
  readonly resources: Command<object, Resources>;
  /** How often threads of the process have gone to sleep, ended ones included. */
  readonly switches: Command<object, number>;
  readonly chdir: Command<{ readonly directory: string }, null>;
  /** Kills another process as the system does it, by TerminateProcess on Windows. */
  readonly killProcess: Command<{ readonly pid: number }, null>;
  /** Lets go of its connection: it ends once it has nothing left to do. Never answers. */
  readonly leave: Command<object, never>;
  /** Ends the process as a program that is done would. Never answers. */
  readonly exit: Command<object, never>;
}

export type CommandName = keyof Commands;

export type FromParticipant =
  | { readonly hello: { readonly id: number; readonly pid: number } }
  | { readonly note: Turn }
  | { readonly request: number; readonly result: unknown }
  | { readonly request: number; readonly error: WireError };

/** What a participant threw. */
export class RemoteError extends Error {
  readonly remote: WireError;

  constructor(command: string, remote: WireError) {
    super(`${command}: ${remote.name}: ${remote.message}`);
    this.name = 'RemoteError';
    this.remote = remote;
  }
}
