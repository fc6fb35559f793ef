import { setTimeout as sleep } from 'node:timers/promises';

/** A waiter has waited at least this long when something happens. */
const MIN_WAIT_MS = 10;
const SPREAD_MS = 50;

/** Lets a waiter wait for a random time, so that one who polls is not always met at one phase. */
export async function letWait(pollMs = 0) {
  await sleep(MIN_WAIT_MS + Math.random() * Math.max(SPREAD_MS, pollMs));
}
