import { setTimeout as sleep } from 'node:timers/promises';
import { Deadline } from './deadline.js';

/** How often a removal that another program's open handle forbids is tried again. */
const POLL_MS = 20;

/**
 * Repeats `attempt` for as long as it is blocked, `retryMs` at most, and answers what it came to
 * last. There is always one attempt, and after the last pause one more.
 */
export async function retryWhileBlocked<T>(
  attempt: () => Promise<T>,
  isBlocked: (outcome: T) => boolean,
  retryMs: number,
): Promise<T> {
  const deadline = new Deadline(retryMs);
  for (;;) {
    const outcome = await attempt();
    const pauseMs = Math.min(POLL_MS, deadline.remainingMs);
    if (!isBlocked(outcome) || pauseMs <= 0) return outcome;
    await sleep(pauseMs);
  }
}

/** `retryWhileBlocked` on the calling thread, which can still be terminated. */
export function retryWhileBlockedSync<T>(
  attempt: () => T,
  isBlocked: (outcome: T) => boolean,
  retryMs: number,
): T {
  const deadline = new Deadline(retryMs);
  for (;;) {
    const outcome = attempt();
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
