// What the workers share on disk: the bucket, and beside it the files that its lock protects.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The paths below the demonstration's directory. */
export function filesIn(directory) {
  return {
    directory,
    bucket: join(directory, 'bucket'),
    counter: join(directory, 'counter'),
    journal: join(directory, 'journal'),
    sentinel: join(directory, 'sentinel'),
    log: join(directory, 'log'),
  };
}

export function createFiles() {
  const files = filesIn(realpathSync(mkdtempSync(join(tmpdir(), 'bucketlock-demo-'))));
  mkdirSync(files.bucket);
  writeFileSync(files.counter, '0'.padStart(COUNTER_WIDTH));
  writeFileSync(files.journal, '');
  writeFileSync(files.log, '');
  return files;
}

export function removeFiles({ directory }) {
  // Workers killed a moment ago may still be about to write.
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

/** Of one width always, so that a write is one call in place and is never seen half done. */
export const COUNTER_WIDTH = 12;
