import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { tracerOf } from './proc.js';
import { killNow, onExit } from './reaper.js';
import { until } from './until.js';

const MARKER = '/bucketlock-marker/';
/**
 * The engine's: memory, and threads of one process talking to each other. They come at any time,
 * and change nothing that another process could see.
 */
const WITHOUT_EFFECT = ['brk', 'futex', 'madvise', 'mmap', 'mprotect', 'mremap', 'munmap'];

/**
 * Instead of being carried out, a system call kills its process or fails. A delayed one is carried
 * out later, or as soon as the tracer is stopped.
 */
export type Effect = 'signal=KILL' | 'error=EIO' | `delay_enter=${number}s`;

/** What befalls the `occurrence`-th call of that name. */
export interface Fault {
  readonly syscall: string;
  readonly occurrence: number;
  readonly effect: Effect;
}

/** The system calls of one thread between the two markers, by name, in order. */
export interface Trace {
  readonly names: readonly string[];
  /** How often each name occurred before the first marker, from the start of the trace. */
  readonly before: ReadonlyMap<string, number>;
  /** Whether the trace goes on to the second marker. */
  readonly complete: boolean;
}

export interface Tracer {
  /** Waits until the traced thread is gone or has been let go. */
  readonly ended: Promise<void>;
  stop(): Promise<Trace>;
  read(): Trace;
}

/** Traces one thread from here on. Resolves once every further system call of it is seen. */
export async function traceThread(tid: number, log: string, fault?: Fault): Promise<Tracer> {
  const injection =
    fault === undefined
      ? []
      : ['-e', `inject=${fault.syscall}:${fault.effect}:when=${fault.occurrence}`];
  const strace = spawn('strace', ['-o', log, ...injection, '-p', String(tid)], {
    stdio: 'ignore',
  });
  const forget = onExit(() => {
    if (strace.pid !== undefined) killNow(strace.pid);
  });
  const ended = new Promise<void>((resolve) => {
    strace.once('exit', () => {
      forget();
      resolve();
    });
  });
  await until('the tracer is attached', () => tracerOf(tid) === strace.pid);
  return {
    ended,
    read: () => parseTrace(readFileSync(log, 'utf8')),
    async stop() {
      strace.kill('SIGINT');
      await ended;
      return parseTrace(readFileSync(log, 'utf8'));
    },
  };
}

/**
 * The last name is the marker that ends the turn, or the call that the thread was killed at: it
 * was entered and did nothing.
 */
function parseTrace(log: string): Trace {
  const names: string[] = [];
  const before = new Map<string, number>();
  let entered = false;
  for (const line of log.split('\n')) {
    const name = /^(\w+)\(/.exec(line)?.[1];
    if (name === undefined || WITHOUT_EFFECT.includes(name)) continue;
    if (line.includes(`${MARKER}enter`)) {
      entered = true;
      before.set(name, (before.get(name) ?? 0) + 1);
    } else if (!entered) {
      before.set(name, (before.get(name) ?? 0) + 1);
    } else {
      names.push(name);
      if (line.includes(`${MARKER}leave`)) return { names, before, complete: true };
    }
  }
  return { names, before, complete: false };
}
