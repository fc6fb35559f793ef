import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import crossProcessLock from 'cross-process-lock';

/** How long it does not look, so that a release can fall on any moment in between. */
export const pollMs = 500;
export const cannot = {
  abort: 'cross-process-lock cannot cancel a wait',
  recovery: 'cross-process-lock: a dead holder keeps the lock for 20 minutes',
  queue: 'cross-process-lock does not exclude within one process',
  sync: 'cross-process-lock has no synchronous calls',
};

export async function open(directory) {
  const path = join(directory, 'cross-process-lock');
  writeFileSync(path, '');
  return {
    acquire: () => crossProcessLock.lock(path, { waitTimeout: 2 ** 31 - 1 }),
  };
}
