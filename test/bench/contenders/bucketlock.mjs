import { BucketLock } from '../../../dist/index.js';

export const cannot = {};

export async function open(directory) {
  const lock = new BucketLock(directory, { waitMs: Infinity });
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
