import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';

import { expectEmpty } from '../helpers/bucket.js';
import { useDriver } from '../helpers/driver.js';
import { mountBindfs } from '../helpers/mounts.js';
import type { Participant } from '../helpers/participant.js';
import { RemoteError } from '../helpers/protocol.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

const TURNS = 100;

const driver = useDriver();
const temp = useTempDir();

/** A bucket where each name of a file has kernel locks of its own. */
function makeBucket(context: TestContext): string {
  requireTool(context, 'bindfs');
  const view = temp.directory('view');
  mountBindfs(temp.directory('source'), view);
  const bucket = join(view, 'bucket');
  mkdirSync(bucket);
  return bucket;
}

const trusting = { trustKernelLocks: true };

test('trusted kernel locks that guard nothing are refused, and nothing is left', async (context) => {
  const bucket = makeBucket(context);
  const [user] = await driver.pool(1);
  for (const attempt of ['acquire', 'acquireSync', 'tryAcquire', 'tryAcquireSync'] as const) {
    const refusal = await user.callToFail(attempt, { bucket, lockOptions: trusting });
    expect(refusal.remote).toMatchObject({
      name: 'LockUnsupportedError',
      code: 'ERR_LOCK_UNSUPPORTED',
    });
    expect(refusal.remote).not.toHaveProperty('errno');
    expect(refusal.message).toContain(
      'the kernel file locks of its file system (fuse) exclude nobody',
    );
    await expectEmpty(bucket);
  }
});

/** Tries over and over; answers how each attempt that did not find the lock held has ended. */
async function attempts(user: Participant, bucket: string): Promise<string[]> {
  const ends: string[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const attempt = turn % 2 === 0 ? 'tryAcquire' : 'tryAcquireSync';
    try {
      const held = await user.call(attempt, { bucket, lockOptions: trusting });
      if (held !== null) ends.push(`granted ${held.token}`);
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      ends.push(error.remote.name);
    }
  }
  return ends;
}

test('they are refused to contenders as well', async (context) => {
  const bucket = makeBucket(context);
  const contenders = await driver.pool(2);
  const ends = await Promise.all(contenders.map((contender) => attempts(contender, bucket)));
  expect(new Set(ends.flat())).toEqual(new Set(['LockUnsupportedError']));
  await expectEmpty(bucket);
});

test('without that trust a holder excludes, and the next one gets in after it', async (context) => {
  const bucket = makeBucket(context);
  const [holder, other] = await driver.pool(2);
  const { hold } = await holder.call('acquire', { bucket });
  for (const attempt of ['tryAcquire', 'tryAcquireSync'] as const) {
    expect(await other.call(attempt, { bucket })).toBeNull();
    expect(await holder.call(attempt, { bucket })).toBeNull();
  }
  expect(await holder.call('verify', { hold })).toBe(true);
  expect(await holder.call('release', { hold })).toBe(true);
  const next = await other.call('acquire', { bucket, waitMs: 0 });
  expect(await other.call('release', { hold: next.hold })).toBe(true);
  await expectEmpty(bucket);
});
