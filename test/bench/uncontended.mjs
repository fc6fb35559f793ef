import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import lockfile from 'lockfile';
import properLockfile from 'proper-lockfile';

import { BucketLock } from '../../dist/index.js';
import { compileBare, loadEmptyTrip, median, time, timeSync } from './tools.mjs';

/** What each contender costs for one acquire and release that nobody disputes, in nanoseconds. */
export async function measureUncontended({ parent, rounds, count }) {
  const directory = mkdtempSync(join(parent, 'bucketlock-bench-'));
  try {
    const bucket = join(directory, 'bucket');
    mkdirSync(bucket);
    const bare = compileBare(directory);
    const trip = loadEmptyTrip(directory);
    const lock = new BucketLock(bucket);
    const path = join(directory, 'peer.lock');
    const contenders = {
      'C program, bare system calls': () =>
        Number(execFileSync(bare, [bucket, '1', String(count)], { encoding: 'utf8' })),
      'bucketlock, sync': () => timeSync(count, () => lock.acquireSync().releaseSync()),
      'two empty trips through the pool': () =>
        time(count, async () => {
          await trip();
          await trip();
        }),
      'bucketlock, async': () =>
        time(count, async () => {
          await (await lock.acquire()).release();
        }),
      'proper-lockfile, sync': () => timeSync(count, () => properLockfile.lockSync(bucket)()),
      'proper-lockfile, async': () =>
        time(count, async () => {
          await (
            await properLockfile.lock(bucket)
          )();
        }),
      'lockfile, sync': () =>
        timeSync(count, () => {
          lockfile.lockSync(path);
          lockfile.unlockSync(path);
        }),
      'lockfile, async': () =>
        time(
          count,
          () =>
            new Promise((resolve, reject) => {
              lockfile.lock(path, (failed) => {
                if (failed) reject(failed);
                else lockfile.unlock(path, (error) => (error ? reject(error) : resolve()));
              });
            }),
        ),
    };
    const samples = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
    // All of them in each round, so that what else the machine does falls on all alike. The first
    // round only warms up.
    for (let round = 0; round <= rounds; round += 1) {
      for (const [name, measure] of Object.entries(contenders)) {
        const nanoseconds = await measure();
        if (round > 0) samples[name].push(nanoseconds);
      }
    }
    return Object.fromEntries(
      Object.entries(samples).map(([name, values]) => [name, median(values)]),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
