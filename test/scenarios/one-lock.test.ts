import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

import { expect, test } from 'vitest';

import { copyPackage } from '../helpers/package-copy.js';
import { useDriver } from '../helpers/driver.js';
import type { LockRequest } from '../helpers/protocol.js';
import { useTempDir } from '../helpers/temp-dir.js';

const TURNS = 25;

const driver = useDriver();
const temp = useTempDir();

const spellings: Record<string, (bucket: string) => LockRequest> = {
  'a trailing slash': (bucket) => ({ bucket: `${bucket}/` }),
  'dots on the way': (bucket) => ({ bucket: `${bucket}/../${basename(bucket)}/.` }),
  'doubled slashes': (bucket) => ({ bucket: bucket.replaceAll('/', '//') }),
  'a relative path': (bucket) => ({ bucket: relative(dirname(bucket), bucket) }),
  'a file URL': (bucket) => ({ bucket, asUrl: true }),
  'a symlink to the bucket': (bucket) => {
    symlinkSync(bucket, `${bucket}-link`);
    return { bucket: `${bucket}-link` };
  },
  'a symlink on the way': (bucket) => {
    symlinkSync(dirname(bucket), `${bucket}-parent`);
    return { bucket: join(`${bucket}-parent`, basename(bucket)) };
  },
};

test.for(Object.entries(spellings))('%s is the same lock', async ([, spell]) => {
  const [other] = await driver.pool(1);
  const same = await driver.spawn();
  const bucket = temp.directory();
  await same.call('chdir', { directory: dirname(bucket) });
  await other.call('chdir', { directory: dirname(bucket) });
  const spelt = spell(bucket);
  const pairs = [
    [{ bucket }, spelt],
    [spelt, { bucket }],
  ] as const;
  for (const [taken, tried] of pairs) {
    const { hold } = await same.call('acquire', taken);
    // Neither the process that holds it nor another one gets in by another name.
    for (const contender of [same, other]) {
      expect(await contender.call('tryAcquire', tried)).toBeNull();
      expect(await contender.call('tryAcquireSync', tried)).toBeNull();
      expect(await contender.call('inspect', tried)).toMatchObject({ state: 'held' });
    }
    expect(await same.call('release', { hold })).toBe(true);
  }
});

test('import, require and a second copy of the package share one lock in one process', async () => {
  const copy = copyPackage(temp.directory('copy'));
  const both = await driver.spawn();
  const bucket = temp.directory();
  const ways = ['import', 'require', copy];
  for (const taken of ways) {
    const { hold } = await both.call('acquire', { bucket, copy: taken });
    for (const tried of ways) {
      expect(await both.call('tryAcquire', { bucket, copy: tried })).toBeNull();
      expect(await both.call('tryAcquireSync', { bucket, copy: tried })).toBeNull();
      expect(await both.call('inspect', { bucket, copy: tried })).toMatchObject({
        state: 'held',
        pid: both.pid,
      });
    }
    expect(await both.call('release', { hold })).toBe(true);
  }
});

test('worker threads, the main thread and other processes take turns at one lock', async () => {
  const [host, other] = await driver.spawnMany(2);
  const workers = [
    await driver.startWorker(host),
    await driver.startWorker(host),
    await driver.startWorker(host),
  ];
  const ways = ['import', 'require', copyPackage(temp.directory('copy'))];
  const bucket = temp.directory();
  const files = temp.directory('files');
  const counter = join(files, 'counter');
  writeFileSync(counter, '');
  const contenders = [host, other, ...workers];
  await Promise.all(
    contenders.map((contender, index) =>
      contender.call('count', {
        bucket,
        counter,
        sentinel: join(files, 'sentinel'),
        waitMs: 60_000,
        turns: TURNS,
        copy: ways[index % ways.length] ?? 'import',
      }),
    ),
  );
  const lines = readFileSync(counter, 'utf8').trimEnd().split('\n');
  const numbers = lines.map((line) => Number(line.split(' ')[0]));
  const expected = Array.from({ length: contenders.length * TURNS }, (_, index) => index + 1);
  expect(numbers).toEqual(expected);
});

test('a lock of one thread is held against the others until that thread releases or ends', async () => {
  const host = await driver.spawn();
  const [first, second] = [await driver.startWorker(host), await driver.startWorker(host)];
  const bucket = temp.directory();
  const { hold } = await first.call('acquire', { bucket });
  for (const contender of [second, host]) {
    expect(await contender.call('tryAcquire', { bucket })).toBeNull();
    expect(await contender.call('inspect', { bucket })).toMatchObject({
      state: 'held',
      evidence: 'guard',
      thisProcess: true,
    });
  }
  expect(await first.call('release', { hold })).toBe(true);
  await second.call('acquire', { bucket, waitMs: 0 });
  second.call('exit', {}).catch(() => undefined);
  await second.ended;
  await host.call('acquire', { bucket, waitMs: 30_000 });
});
