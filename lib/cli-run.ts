import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { BucketLock } from './bucket-lock.js';
import { say } from './cli-output.js';
import { StatusLine } from './cli-status-line.js';
import { EXIT } from './cli-usage.js';
import type { Invocation } from './cli-usage.js';
import { isLockError } from './error-guards.js';
import type { LockLostError } from './errors.js';
import type { SyncHeldLock } from './lock.js';
import { quoted } from './quoted.js';

type Run = Extract<Invocation, { command: 'run' }>;

/** How often it is looked whether the lock is still ours. */
const VERIFY_MS = 1_000;

const PASSED_ON: readonly NodeJS.Signals[] = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGTERM',
  'SIGUSR1',
  'SIGUSR2',
];

/** What a terminal sends to all that run in its foreground, the command included. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/** Holds the lock while a command runs. Answers the exit status. */
export async function runUnderLock(invocation: Run): Promise<number> {
  const held = await acquire(invocation);
  const status = await runCommand(invocation, held);
  try {
    const wasOurs = await held.release();
    return status === 0 && !wasOurs ? EXIT.lost : status;
  } catch (error) {
    if (!isLockError(error)) throw error;
    say(error.message);
    return status === 0 ? EXIT.failure : status;
  }
}

async function acquire({ bucket, waitMs, label }: Run): Promise<SyncHeldLock> {
  const lock = new BucketLock(bucket);
  const status = new StatusLine(process.stderr, lock.path);
  process.on('SIGUSR1', dieBySignal);
  try {
    return await lock.acquire({
      waitMs,
      label,
      onWait: (holder) => {
        status.show(holder, () => lock.inspect());
      },
    });
  } finally {
    status.clear();
    process.off('SIGUSR1', dieBySignal);
  }
}

/** What the other signals do where nobody listens. This one would open Node's inspector. */
function dieBySignal(signal: NodeJS.Signals): void {
  process.off(signal, dieBySignal);
  process.kill(process.pid, signal);
}

async function runCommand({ program, programArguments }: Run, held: SyncHeldLock): Promise<number> {
  let after = '; the command goes on';
  held.signal.addEventListener('abort', () => {
    // Not killed: whether it is safer to go on or to stop, only the command itself knows.
    say(`${(held.signal.reason as LockLostError).message}${after}`);
  });
  const watch = setInterval(() => {
    // A look that fails proves nothing. The release meets the same failure, and tells.
    held.verify().catch(() => undefined);
  }, VERIFY_MS);
  // Listens before there is a command: a signal in between would kill us alone.
  const stopPassing = passSignalsOn((signal) => child.kill(signal));
  const child = spawn(program, programArguments, { stdio: 'inherit' });
  try {
    return await endOf(child, program);
  } finally {
    stopPassing();
    clearInterval(watch);
    after = '';
  }
}

function passSignalsOn(kill: (signal: NodeJS.Signals) => void): () => void {
  const passOn = (signal: NodeJS.Signals): void => {
    if (process.stdin.isTTY && FROM_TERMINAL.includes(signal)) return;
    kill(signal);
  };
  for (const signal of PASSED_ON) process.on(signal, passOn);
  return () => {
    for (const signal of PASSED_ON) process.off(signal, passOn);
  };
}

function endOf(child: ChildProcess, program: string): Promise<number> {
  return new Promise((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      say(`${quoted(program)}: ${error.message}`);
      // A signal that could not be passed on is no end.
      if (child.pid !== undefined) return;
      resolve(error.code === 'ENOENT' ? EXIT.notFound : EXIT.notExecutable);
    });
    child.once('exit', (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
