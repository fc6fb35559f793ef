import { existsSync } from 'node:fs';

import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { mustBlock } from '../helpers/must-block.js';
import { lockfileOf } from '../helpers/records.js';
import { taken } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';

const ROUNDS = 20;

const driver = useDriver();
const temp = useTempDir();

test('a lock excludes, and is handed over when it is released', async () => {
  const [holder, waiter] = await driver.spawnMany(2);
  const bucket = temp.directory();
  const { hold } = await holder.call('acquire', { bucket, label: 'first' });

  expect(await waiter.call('tryAcquire', { bucket })).toBeNull();
  const busy = await waiter.callToFail('acquire', { bucket, waitMs: 0 });
  expect(busy.remote).toMatchObject({
    name: 'BucketBusyError',
    code: 'ERR_BUCKET_BUSY',
    holdingPid: holder.pid,
    report: { state: 'held', evidence: 'guard', process: 'alive', label: 'first' },
  });
  const ends = await mustBlock('the waiter', waiter.call('acquire', { bucket, waitMs: 60_000 }));
  expect(await holder.call('release', { hold })).toBe(true);
  const { hold: second } = await ends();
  expect(await holder.call('tryAcquireSync', { bucket })).toBeNull();
  expect(await waiter.call('releaseSync', { hold: second })).toBe(true);
  expect(existsSync(lockfileOf(bucket))).toBe(false);
});

test('the next attempt after a SIGKILL succeeds', async () => {
  const [judge] = await driver.pool(1);
  const bucket = temp.directory();
  for (let round = 0; round < ROUNDS; round += 1) {
    const holder = await driver.spawn();
    await holder.call(round % 2 === 0 ? 'acquire' : 'acquireSync', { bucket });
    await holder.kill();
    expect(await judge.call('inspect', { bucket })).toMatchObject({
      state: 'stale',
      evidence: 'guard-free',
      pid: holder.pid,
      process: 'gone',
    });
    const hold = taken(
      await judge.call(round % 2 === 0 ? 'tryAcquire' : 'tryAcquireSync', { bucket }),
    );
    expect(await judge.call('release', { hold: hold.hold })).toBe(true);
  }
});

test('a waiter gets the lock of a holder that is killed meanwhile', async () => {
  const [holder, waiter, syncWaiter] = await driver.spawnMany(3);
  const bucket = temp.directory();
  await holder.call('acquire', { bucket });
  const first = await mustBlock('acquire', waiter.call('acquire', { bucket, waitMs: 60_000 }));
  const second = await mustBlock(
    'acquireSync',
    syncWaiter.call('acquireSync', { bucket, waitMs: 60_000 }),
  );
  await holder.kill();
  // Whichever gets it is killed in turn, and then the other one gets it.
  const endings = [first(), second()] as const;
  await Promise.race([
    endings[0].then(() => waiter.kill()),
    endings[1].then(() => syncWaiter.kill()),
  ]);
  await Promise.all(endings);
});

test('a process that ends without releasing leaves nothing behind', async () => {
  const [holder, judge] = await driver.spawnMany(2);
  const bucket = temp.directory();
  await holder.call('acquire', { bucket });
  holder.call('exit', {}).catch(() => undefined);
  await holder.ended;
  expect(existsSync(lockfileOf(bucket))).toBe(false);
  expect(await judge.call('tryAcquire', { bucket })).not.toBeNull();
});
