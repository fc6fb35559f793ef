import { isAtHead, lineOf } from './kernel-line.js';
import type { Participant } from './participant.js';
import { until } from './until.js';

const TURNS = 3;
/** What `lineUp` calls the wait of each. */
const wait = 'in line';

/** Has each of them wait, in this order: one begins once the one before stands in line. */
export async function lineUp(bucket: string, waiters: readonly Participant[]): Promise<void> {
  for (const waiter of waiters) {
    await waiter.call('startWait', { bucket, wait });
    await untilInLine(bucket, waiter);
  }
}

/** Resolves once the process stands in line, wherever. */
export async function untilInLine(
  bucket: string,
  { pid }: { readonly pid: number },
): Promise<void> {
  await until(`${pid} stands in line`, () => lineOf(bucket).includes(pid));
}

/** Resolves once the process is first in line and blocked until the holder lets go. */
export async function untilAtHead(
  bucket: string,
  { pid }: { readonly pid: number },
): Promise<void> {
  await until(`${pid} waits for the holder`, () => isAtHead(bucket, pid));
}

/** Resolves once a waiter that was lined up has had its turn. */
export async function takeTurn(waiter: Participant): Promise<void> {
  const { hold } = await waiter.call('endWait', { wait });
  if (!(await waiter.call('release', { hold }))) throw new Error(`${waiter.pid} had no lock`);
}

export async function takeTurns(waiters: readonly Participant[]): Promise<void> {
  await Promise.all(waiters.map(takeTurn));
}

/** Each of them waits, takes its turn and comes again, a few times. */
export async function goOn(bucket: string, users: readonly Participant[]): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    await Promise.all(
      users.map(async (user) => {
        const { hold } = await user.call('acquire', { bucket, waitMs: 60_000 });
        if (!(await user.call('release', { hold }))) throw new Error(`${user.pid} had no lock`);
      }),
    );
  }
}
