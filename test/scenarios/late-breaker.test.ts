import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { expectEmpty } from '../helpers/bucket.js';
import { useDriver } from '../helpers/driver.js';
import { leaveDeadRecord, lockfileOf, writeRecord } from '../helpers/records.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';
import { traceThread } from '../helpers/tracer.js';
import { until } from '../helpers/until.js';

/** Longer than any test: only the end of the tracing ends it. */
const DELAY = 'delay_enter=3600s';

const driver = useDriver();
const temp = useTempDir();

function hasOpen(pid: number, path: string): boolean {
  const descriptors = `/proc/${pid}/fd`;
  return readdirSync(descriptors).some((name) => {
    try {
      return readlinkSync(join(descriptors, name)) === path;
    } catch {
      // Closed between the two looks.
      return false;
    }
  });
}

// A dead record of this file system, which its guard proves, and one that no guard can prove.
test.for([
  { name: 'a dead record', foreign: false },
  { name: 'a foreign record', foreign: true },
])(
  'a second breaker of $name that comes late leaves the next holder alone',
  async ({ foreign }, context) => {
    requireTool(context, 'strace');
    const bucket = temp.directory();
    const record = await leaveDeadRecord(driver, bucket);
    if (foreign) writeRecord(bucket, { ...record, fs: 'nfs' });
    const { token } = record;
    const [first, next] = await driver.pool(2);

    const late = await driver.spawn({ env: { UV_THREADPOOL_SIZE: '1' } });
    // It has opened the dead lockfile, and cannot get on to the lock on it.
    const thread = await late.call('poolThread', {});
    const tracer = await traceThread(thread, join(temp.path, `trace-${late.pid}.txt`), {
      syscall: 'flock',
      occurrence: 1,
      effect: DELAY,
    });
    const breaking = late.call('breakLock', { bucket, token });
    breaking.catch(() => undefined);
    await until('the late breaker has the lockfile open', () =>
      hasOpen(late.tracePid, lockfileOf(bucket)),
    );

    expect(await first.call('breakLock', { bucket, token })).toBe(true);
    const { hold } = await next.call('acquire', { bucket, waitMs: 0 });
    await tracer.stop();
    // The record that it was to remove is gone.
    expect(await breaking).toBe(true);

    expect(await next.call('verify', { hold })).toBe(true);
    expect(readdirSync(bucket)).toEqual(['.lock']);
    expect(await first.call('tryAcquire', { bucket })).toBeNull();
    expect(await next.call('release', { hold })).toBe(true);
    await expectEmpty(bucket);
  },
);
