import { setTimeout as sleep } from 'node:timers/promises';

import { PATIENCE_MS } from './until.js';

/** Longer than the longest pause between two attempts of a waiter that polls. */
const QUIESCENT_MS = 250;

/**
 * Shows in two halves that something blocks: it is still pending after a quiet time, and the
 * function that is returned, called once the obstacle is gone, shows that it then ends.
 */
export async function mustBlock<T>(what: string, pending: Promise<T>): Promise<() => Promise<T>> {
  const quiet = Symbol('quiet');
  const first = await Promise.race([pending, sleep(QUIESCENT_MS, quiet)]);
  if (first !== quiet) throw new Error(`${what} did not block: ${JSON.stringify(first)}`);
  return () => mustEnd(what, pending);
}

export async function mustEnd<T>(what: string, pending: Promise<T>): Promise<T> {
  const timeout = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { signal: timeout.signal }).then(() => {
    throw new Error(`${what} still blocks after ${PATIENCE_MS} ms`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([pending, late]);
  } finally {
    timeout.abort();
  }
}
