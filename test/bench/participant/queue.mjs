import { setTimeout as sleep } from 'node:timers/promises';

import { now } from './now.mjs';

/** What a waiter gets to stand in line before the first hand-over, in milliseconds. */
const SETTLE_MS = 0.2;
const SETTLE_FLOOR_MS = 20;

/**
 * Nanoseconds a hand-over, from the first release until the last of `waiters` calls of this process
 * has held the lock, or until the cap; and how many have.
 */
export async function queue(open, waiters, capMs) {
  const release = await (await open()).acquire();
  const locks = [];
  for (let at = 0; at < waiters; at += 1) locks.push(await open());
  let served = 0;
  let last = 0;
  const turns = locks.map(async (lock) => {
    const letGo = await lock.acquire();
    served += 1;
    last = now();
    await letGo();
  });
  await sleep(SETTLE_FLOOR_MS + SETTLE_MS * waiters);
  const first = now();
  await release();
  const capped = new AbortController();
  await Promise.race([
    Promise.all(turns),
    sleep(capMs, undefined, { signal: capped.signal }).catch(() => {}),
  ]);
  capped.abort();
  return { served, nanoseconds: served === 0 ? null : (last - first) / served };
}
