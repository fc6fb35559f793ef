import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { BucketLock } from '../../lib/bucket-lock.js';
import { copyPackage } from '../helpers/package-copy.js';
import { program } from '../helpers/program.js';
import { lockfileOf } from '../helpers/records.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const scripts = useScripts(temp);

/** As many as a program may well have, and many more than the thread pool has threads. */
const COUNTS = [1, 500] as const;

/** `take()` acquires `count` locks in folders of `parent` and says so. */
const TAKE = `
  const take = async (prefix = 'bucket') => {
    const locks = Array.from({ length: count }, (_, at) => new BucketLock(parent + '/' + prefix + '-' + at));
    await Promise.all(locks.map((lock) => lock.acquire({ waitMs: 0 })));
    console.log('held');
    return locks;
  };`;

/** No bucket has anything in it, and so many of them have been made. */
function expectReleased(parent: string, count: number): void {
  const buckets = readdirSync(parent);
  expect(buckets.length).toBeGreaterThanOrEqual(count);
  expect(buckets.filter((bucket) => readdirSync(join(parent, bucket)).length > 0)).toEqual([]);
}

const endings: Record<string, { readonly body: string; readonly code: number }> = {
  'its own end': { body: '', code: 0 },
  'an uncaught exception': { body: `setImmediate(() => { throw new Error('boom'); });`, code: 1 },
  'an unhandled rejection': { body: `void Promise.reject(new Error('boom'));`, code: 1 },
  'process.exit': { body: `process.exit(5);`, code: 5 },
  'process.exit in the turn that begins attempts and waits': {
    body: `more(); process.exit(5);`,
    code: 5,
  },
  'process.exit while attempts are under way and waits are pending': {
    body: `more(); setImmediate(() => process.exit(5));`,
    code: 5,
  },
  'process.exit when the first of many attempts is through': {
    body: `Promise.race(more()).then(() => process.exit(5));`,
    code: 5,
  },
};

const cases = Object.entries(endings).flatMap(([ending, { body, code }]) =>
  COUNTS.map((count) => ({ ending, body, code, count })),
);

test.for(cases)('$ending with $count held leaves no lockfile', async ({ body, code, count }) => {
  const parent = temp.directory();
  const ended = await scripts.run(
    `${TAKE}
    const locks = await take();
    // A pending wait for each lock that is held, and attempts for as many that are free.
    const more = () => {
      for (const lock of locks) void lock.acquire({ waitMs: Infinity });
      return locks.map((lock) => new BucketLock(lock.path + '-more').acquire());
    };
    ${body}`,
    { values: { parent, count } },
  );
  expect(ended.output).toMatch(/^held\n/);
  expect(ended.code).toBe(code);
  expectReleased(parent, count);
});

test('several copies of the package each release theirs', async () => {
  const parent = temp.directory();
  const copy = copyPackage(join(temp.directory('copy'), 'bucketlock'));
  const { output, code } = await scripts.run(
    `const before = process.listenerCount('exit');
    const { createRequire } = await import('node:module');
    const required = createRequire(import.meta.url)(entry);
    const copied = await import(copy);
    for (const [name, { BucketLock }] of Object.entries({ bucketlock, required, copied })) {
      await new BucketLock(parent + '/' + name).acquire();
      new BucketLock(parent + '/' + name + '-sync').acquireSync();
    }
    console.log(process.listenerCount('exit') - before, copied.BucketLock === BucketLock);`,
    { values: { parent, copy, entry: program.entry } },
  );
  expect(output.trim()).toBe('1 false');
  expect(code).toBe(0);
  expectReleased(parent, 6);
});

test.for(
  (['SIGKILL', 'SIGTERM', 'SIGINT'] as const).flatMap((signal) =>
    COUNTS.map((count) => ({ signal, count })),
  ),
)('$signal with $count held costs the next acquirer no wait', async ({ signal, count }) => {
  const parent = temp.directory();
  const script = scripts.start(`${TAKE} await take(); setInterval(() => {}, 60_000);`, {
    values: { parent, count },
  });
  await script.says('held');
  script.signal(signal);
  expect(await script.ended).toMatchObject({ code: null, signal });
  const buckets = readdirSync(parent);
  expect(buckets).toHaveLength(count);
  for (const bucket of buckets) {
    new BucketLock(join(parent, bucket)).acquireSync({ waitMs: 0 }).releaseSync();
  }
  expectReleased(parent, count);
});

test('an exception in an exit listener before ours costs the next acquirer no wait', async () => {
  const bucket = temp.directory();
  const { code } = await scripts.run(
    `process.on('exit', () => { throw new Error('boom'); });
    await new BucketLock(bucket).acquire();`,
    { values: { bucket } },
  );
  expect(code).not.toBe(0);
  new BucketLock(bucket).acquireSync({ waitMs: 0 }).releaseSync();
});

test('Ctrl+C ends a busy loop that holds a lock', async () => {
  const bucket = temp.directory();
  const script = scripts.start(
    `await new BucketLock(bucket).acquire();
    console.log('held');
    for (;;);`,
    { values: { bucket } },
  );
  await script.says('held');
  script.signal('SIGINT');
  expect(await script.ended).toMatchObject({ code: null, signal: 'SIGINT' });
  new BucketLock(bucket).acquireSync({ waitMs: 0 }).releaseSync();
});

test("a program's own SIGTERM handler that works on for a second still holds", async () => {
  const bucket = temp.directory();
  const script = scripts.start(
    `const held = await new BucketLock(bucket).acquire();
    process.once('SIGTERM', () => {
      console.log('told');
      setTimeout(async () => {
        console.log('verified', await held.verify());
        process.exit(7);
      }, 1_000);
    });
    setInterval(() => {}, 60_000);
    console.log('held');`,
    { values: { bucket } },
  );
  await script.says('held');
  script.signal('SIGTERM');
  await script.says('told');
  expect(new BucketLock(bucket).tryAcquireSync()).toBeNull();
  const { code, output } = await script.ended;
  expect(output).toContain('verified true');
  expect(code).toBe(7);
  expect(existsSync(lockfileOf(bucket))).toBe(false);
});
