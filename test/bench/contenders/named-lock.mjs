import { namedLock } from '../../../dist/index.js';

/** It excludes within one process only. */
export const cannot = {};

export async function open(directory) {
  const lock = namedLock(directory, { waitMs: Infinity });
  return {
    async acquire(signal) {
      const held = await lock.acquire(signal === undefined ? {} : { signal });
      return () => held.release();
    },
    acquireSync() {
      const held = lock.acquireSync();
      return () => held.releaseSync();
    },
  };
}
