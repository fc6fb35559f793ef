import { Deadline } from './deadline.js';

/** How long a first attempt that may also stand in line is left to libuv's pool. */
export const POOL_PATIENCE_MS = 100;

interface Waiting {
  readonly since: number;
  readonly onPassed: () => void;
}

/** Those whose patience is not at its end yet, in order of arrival. */
const waiting = new Set<Waiting>();
let isWatching = false;

/**
 * Calls `onPassed` in `patienceMs`, `POOL_PATIENCE_MS` at most. Returns what calls that off.
 *
 * Nearly every attempt is back long before. So all share one timer, which nobody stops: it finds
 * nobody waiting, and is not set again. Only work on the pool waits for it, which keeps the process
 * alive by itself.
 */
export function losePatience(patienceMs: number, onPassed: () => void): () => void {
  if (patienceMs < POOL_PATIENCE_MS) return new Deadline(patienceMs).arm(onPassed);
  const entry = { since: performance.now(), onPassed };
  waiting.add(entry);
  if (!isWatching) watch(POOL_PATIENCE_MS);
  return () => {
    waiting.delete(entry);
  };
}

function watch(ms: number): void {
  isWatching = true;
  setTimeout(look, ms).unref();
}

function look(): void {
  isWatching = false;
  for (const entry of waiting) {
    const leftMs = entry.since + POOL_PATIENCE_MS - performance.now();
    if (leftMs > 0) {
      watch(Math.ceil(leftMs));
      return;
    }
    waiting.delete(entry);
    entry.onPassed();
  }
}
