import { readdirSync } from 'node:fs';

import { expect } from 'vitest';

import { until } from './until.js';

/** FUSE's own name for a file that was removed while open; it goes when the last closes. */
const FUSE_HIDDEN = '.fuse_hidden';

/** Nothing is left in the bucket, no lockfile and no private file. */
export async function expectEmpty(bucket: string): Promise<void> {
  await until(
    'FUSE has closed',
    () => !readdirSync(bucket).some((name) => name.startsWith(FUSE_HIDDEN)),
  );
  expect(readdirSync(bucket)).toEqual([]);
}
