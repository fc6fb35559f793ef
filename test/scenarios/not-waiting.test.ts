import { symlinkSync } from 'node:fs';

import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { lineOf } from '../helpers/kernel-line.js';
import { lineUp, takeTurn, untilAtHead, untilInLine } from '../helpers/line-up.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const driver = useDriver();
const temp = useTempDir();
const scripts = useScripts(temp);

const ATTEMPTS = 100;
const REQUESTS = 20;

test('an attempt that does not wait ends at once, however long the line, and never stands in it', async () => {
  const [holder, head, user] = await driver.spawnMany(3);
  const bucket = temp.directory();
  const { hold } = await holder.call('acquire', { bucket });
  await lineUp(bucket, [head]);
  await untilAtHead(bucket, head);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    expect(await user.call('tryAcquire', { bucket })).toBeNull();
    expect(await user.call('tryAcquireSync', { bucket })).toBeNull();
    for (const acquire of ['acquire', 'acquireSync'] as const) {
      const { remote } = await user.callToFail(acquire, { bucket, waitMs: 0 });
      expect(remote).toMatchObject({ code: 'ERR_BUCKET_BUSY', holdingPid: holder.pid });
    }
    expect(lineOf(bucket)).toEqual([head.pid]);
  }
  await holder.call('release', { hold });
  await takeTurn(head);
});

test('onWait is called once for a wait, however many turns it sees', async () => {
  const { code, output } = await scripts.run(
    `const lock = new BucketLock(bucket);
    const calls = Array.from({ length: REQUESTS }, () => []);
    const held = await lock.acquire({ label: 'first' });
    const requests = [];
    for (const ofOne of calls) {
      await new Promise((called) => {
        const onWait = (holder) => {
          ofOne.push([holder.state, holder.pid === process.pid, holder.label]);
          called();
        };
        // Without a word, the line made the first attempt, not libuv's pool.
        setTimeout(called, 500);
        requests.push(lock.with(() => {}, { waitMs: Infinity, onWait }));
      });
    }
    await held.release();
    await Promise.all(requests);
    console.log(JSON.stringify(calls));`,
    { values: { bucket: temp.directory(), REQUESTS } },
  );
  expect(code, output).toBe(0);
  const called = (JSON.parse(output) as unknown[][]).filter((calls) => calls.length > 0);
  expect(called.length).toBeGreaterThan(0);
  expect(called).toEqual(called.map(() => [['held', true, 'first']]));
});

test('a synchronous wait for what this thread waits for itself is refused wherever that stands', async () => {
  const [holder, other] = await driver.spawnMany(2);
  const bucket = temp.directory();
  const link = `${bucket}-link`;
  symlinkSync(bucket, link);
  const { hold } = await holder.call('acquire', { bucket });
  await lineUp(bucket, [other]);
  await untilAtHead(bucket, other);
  const script = scripts.start(
    `const lock = new BucketLock(bucket);
    const pending = lock.acquire({ waitMs: Infinity, label: 'pending' });
    const refusals = () => {
      for (const same of [lock, new BucketLock(link)]) {
        for (const options of [{}, { waitMs: Infinity }]) {
          try {
            same.acquireSync(options).releaseSync();
            console.log('not refused');
          } catch (error) {
            console.log(error.code);
          }
        }
        console.log(same.tryAcquireSync());
      }
    };
    refusals();
    // Now it stands in line.
    setTimeout(refusals, 500);
    const held = await pending;
    refusals();
    console.log(held.releaseSync());
    lock.acquireSync().releaseSync();`,
    { values: { bucket, link } },
  );
  const codes = 'ERR_LOCK_REENTRY\nERR_LOCK_REENTRY\nnull\n'.repeat(2);
  await script.says(codes.repeat(2));
  await untilInLine(bucket, script);
  expect(lineOf(bucket)).toEqual([other.pid, script.pid]);
  await holder.call('release', { hold });
  await takeTurn(other);
  expect(await script.ended).toMatchObject({ code: 0, output: `${codes.repeat(3)}true\n` });
});
