import { setTimeout as sleep } from 'node:timers/promises';
import { Deadline } from './deadline.js';

/** How often a removal that another program's open handle forbids is tried again. */
const POLL_MS = 20;

/**
 * Repeats an `attempt` that came to `first`, for as long as it is blocked, `retryMs` at most, and
 * answers what it came to last. After the last pause there is one more attempt.
 */
export async function retryWhileBlocked<T>(
  first: T,
  attempt: () => Promise<T>,
  isBlocked: (outcome: T) => boolean,
  retryMs: number,
): Promise<T> {
  const deadline = new Deadline(retryMs);
  for (let outcome = first; ; outcome = await attempt()) {
    const pauseMs = Math.min(POLL_MS, deadline.remainingMs);
    if (!isBlocked(outcome) || pauseMs <= 0) return outcome;
    await sleep(pauseMs);
  }
}

/** `retryWhileBlocked` on the calling thread, which can still be terminated. */
export function retryWhileBlockedSync<T>(
  first: T,
  attempt: () => T,
  isBlocked: (outcome: T) => boolean,
  retryMs: number,
): T {
  const deadline = new Deadline(retryMs);
  for (let outcome = first; ; outcome = attempt()) {
    const pauseMs = Math.min(POLL_MS, deadline.remainingMs);
    if (!isBlocked(outcome) || pauseMs <= 0) return outcome;
    sleepSync(pauseMs);
  }
}

function sleepSync(ms: number): void {
  // Made anew each time: where nothing is blocked, which is everywhere but on Windows, it costs.
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  Atomics.wait(never, 0, 0, ms);
}
