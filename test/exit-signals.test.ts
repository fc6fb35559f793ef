import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { copyPackage } from './helpers/package-copy.js';
import { lockfileOf } from './helpers/records.js';
import { useScripts } from './helpers/script.js';
import { useTempDir } from './helpers/temp-dir.js';
import { requireTool } from './helpers/tools.js';

const temp = useTempDir();
const scripts = useScripts(temp);

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** `listeners()` is how many there are of each signal, one for each. */
const COUNT = `
  const SIGNALS = ${JSON.stringify(SIGNALS)};
  const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal)).join();`;

/** Keeps the process, which is to be told from one that is about to end by itself. */
const HELD = `
  const held = await new BucketLock(bucket, { recordFormat: 'pid' }).acquire();
  setInterval(() => {}, 60_000);
  console.log('held');`;

test('there are listeners only while a lock with a PID-only record is held', async () => {
  const values = { full: temp.directory(), first: temp.directory(), second: temp.directory() };
  const { output } = await scripts.run(
    `${COUNT}
    const print = () => console.log(listeners());
    print();
    const guarded = await new BucketLock(full).acquire();
    print();
    const one = await new BucketLock(first, { recordFormat: 'pid' }).acquire();
    print();
    const two = new BucketLock(second, { recordFormat: 'pid' }).acquireSync();
    print();
    await one.release();
    print();
    two.releaseSync();
    print();`,
    { values },
  );
  expect(output.trim().split('\n')).toEqual(['0,0,0', '0,0,0', '1,1,1', '1,1,1', '1,1,1', '0,0,0']);
});

test.for(SIGNALS)(
  '%s releases what is held and then kills as if we had not listened',
  async (signal) => {
    const bucket = temp.directory();
    const other = temp.directory();
    const script = scripts.start(`await new BucketLock(other).acquire();${HELD}`, {
      values: { bucket, other },
    });
    await script.says('held');
    expect(readFileSync(lockfileOf(bucket), 'utf8').trim()).toBe(String(script.pid));
    script.signal(signal);
    expect(await script.ended).toMatchObject({ code: null, signal });
    expect(existsSync(lockfileOf(bucket))).toBe(false);
    expect(existsSync(lockfileOf(other))).toBe(false);
  },
);

test.for(SIGNALS)(
  'a program that listens for %s decides, and still holds the lock',
  async (signal) => {
    const bucket = temp.directory();
    const script = scripts.start(
      `process.once(signal, () => {
      console.log('told');
      // The handler works on under the lock.
      setTimeout(async () => {
        console.log('verified', await held.verify());
        process.exit(7);
      }, 1_000);
    });
    ${HELD}`,
      { values: { bucket, signal } },
    );
    await script.says('held');
    script.signal(signal);
    await script.says('told');
    expect(existsSync(lockfileOf(bucket))).toBe(true);
    const { code, output } = await script.ended;
    expect(output).toContain('verified true');
    expect(code).toBe(7);
    expect(existsSync(lockfileOf(bucket))).toBe(false);
  },
);

test('a program that ignored a signal is killed by the next one once it listens no more', async () => {
  const bucket = temp.directory();
  const script = scripts.start(
    `process.once('SIGTERM', () => setTimeout(() => console.log('ignored'), 50));${HELD}`,
    { values: { bucket } },
  );
  await script.says('held');
  script.signal('SIGTERM');
  await script.says('ignored');
  script.signal('SIGTERM');
  expect(await script.ended).toMatchObject({ signal: 'SIGTERM' });
  expect(existsSync(lockfileOf(bucket))).toBe(false);
});

test('a library that dies by a signal only if nobody else listens still does', async () => {
  const bucket = temp.directory();
  const script = scripts.start(
    `process.on('SIGTERM', function polite() {
      if (process.listenerCount('SIGTERM') > 1) return;
      process.off('SIGTERM', polite);
      process.kill(process.pid, 'SIGTERM');
    });
    ${HELD}`,
    { values: { bucket } },
  );
  await script.says('held');
  script.signal('SIGTERM');
  expect(await script.ended).toMatchObject({ signal: 'SIGTERM' });
});

test('copies of the package in one thread have one listener, and all their locks are released', async () => {
  const buckets = [temp.directory(), temp.directory()];
  const copy = copyPackage(join(temp.directory('copy'), 'bucketlock'));
  const script = scripts.start(
    `${COUNT}
    const copied = await import(copy);
    for (const [at, { BucketLock }] of [bucketlock, copied].entries())
      await new BucketLock(buckets[at], { recordFormat: 'pid' }).acquire();
    setInterval(() => {}, 60_000);
    console.log(copied.BucketLock === BucketLock, listeners());`,
    { values: { buckets, copy } },
  );
  await script.says('false 1,1,1');
  script.signal('SIGTERM');
  expect(await script.ended).toMatchObject({ signal: 'SIGTERM' });
  for (const bucket of buckets) expect(existsSync(lockfileOf(bucket))).toBe(false);
});

test('a worker listens for no signal, and its lock is free when the process is gone', async () => {
  const bucket = temp.directory();
  const script = scripts.start(
    `${COUNT}
    const { Worker, isMainThread } = await import('node:worker_threads');
    if (isMainThread) {
      new Worker(new URL(import.meta.url));
    } else {
      ${HELD}
      console.log('listeners', listeners());
    }`,
    { values: { bucket } },
  );
  await script.says('listeners 0,0,0');
  script.signal('SIGTERM');
  expect(await script.ended).toMatchObject({ signal: 'SIGTERM' });
  const { output } = await scripts.run(
    `console.log((await new BucketLock(bucket).acquire({ waitMs: 0 })).token.length);`,
    { values: { bucket } },
  );
  expect(output.trim()).toBe('32');
});

test('the first process of a PID namespace, which signals do not kill, goes on and holds', async (context) => {
  requireTool(context, 'pid-namespace');
  const bucket = temp.directory();
  const script = scripts.start(
    `${COUNT}
    const held = await new BucketLock(bucket, { recordFormat: 'pid' }).acquire();
    process.kill(process.pid, 'SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 50));
    console.log(process.pid, listeners(), await held.verify());`,
    { values: { bucket }, wrapper: ['unshare', '--pid', '--fork', '--mount-proc'] },
  );
  expect((await script.ended).output.trim()).toBe('1 0,0,0 true');
  expect(existsSync(lockfileOf(bucket))).toBe(false);
});
