import { setTimeout as sleep } from 'node:timers/promises';

/** How long to wait for what must happen: long, since only a bug makes a test wait so long. */
export const PATIENCE_MS = 30_000;

/**
 * Looks until `condition` answers something other than undefined or false. For states of the
 * system that send no event; the time between two looks proves nothing.
 */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${what}`);
    await sleep(5);
  }
}

/** The same without a turn of the event loop in the meantime. */
export function spinUntil(condition: () => boolean): void {
  const deadline = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${PATIENCE_MS} ms`);
  }
}
