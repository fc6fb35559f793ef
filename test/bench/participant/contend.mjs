import { writeFileSync } from 'node:fs';

import { now } from './now.mjs';

/**
 * Takes turns until `end`; then writes when each was asked for, held and let go to `file`. Answers
 * how many acquires failed.
 */
export async function contend(lock, end, file) {
  const moments = [];
  let failed = 0;
  while (now() < end) {
    const requested = now();
    try {
      const release = await lock.acquire();
      const held = now();
      await release();
      moments.push(requested, held, held);
    } catch {
      failed += 1;
    }
  }
  writeFileSync(file, Float64Array.from(moments));
  return failed;
}
