import { join } from 'node:path';
import { promisify } from 'node:util';

import lockfile from 'lockfile';

/** How long it does not look, so that a release can fall on any moment in between. */
export const pollMs = 100;
export const cannot = {
  abort: 'lockfile cannot cancel a wait',
  recovery: 'lockfile: a dead holder keeps the lock for ever (its age limit is off by default)',
};

const lock = promisify(lockfile.lock);
const unlock = promisify(lockfile.unlock);
// It does not wait unless told to. The poll period is its default.
const waiting = { wait: 2 ** 31 - 1, pollPeriod: pollMs };

export async function open(directory) {
  const path = join(directory, 'lockfile');
  return {
    async acquire() {
      // It changes the options it is given.
      await lock(path, { ...waiting });
      return () => unlock(path);
    },
    acquireSync() {
      lockfile.lockSync(path);
      return () => lockfile.unlockSync(path);
    },
  };
}
