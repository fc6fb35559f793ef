import { openSync } from 'node:fs';
import { join } from 'node:path';

import native from 'fs-native-extensions';

export const cannot = {
  abort: 'fs-native-extensions cannot cancel a wait',
};
/** One open file is one owner: whoever is to wait in the same process opens anew. */
export const ownerIsOpenFile = true;

export async function open(directory) {
  const descriptor = openSync(join(directory, 'fs-native-extensions'), 'a+');
  return {
    async acquire() {
      await native.waitForLock(descriptor);
      return () => native.unlock(descriptor);
    },
    acquireSync() {
      native.waitForLockSync(descriptor);
      return () => native.unlock(descriptor);
    },
  };
}
