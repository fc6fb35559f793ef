import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import {
  ageLockfile,
  leaveDeadRecord,
  lockfileAgeMs,
  lockfileOf,
  writeLockfile,
} from '../helpers/records.js';
import { taken } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';

const driver = useDriver();
const temp = useTempDir();

const HOUR_MS = 3_600_000;
/** Every one of them names a living process somewhere, or none at all. */
const living = process.pid;
const binary = Buffer.from(Array.from({ length: 256 }, (_, value) => 255 - value));

const contents: Record<string, string | Uint8Array> = {
  empty: '',
  'PID 0': '0\n',
  'a negative PID': `-${living}\n`,
  'PID 2^31': '2147483648\n',
  'a huge PID': `${'9'.repeat(30)}\n`,
  'a PID with a sign': `+${living}\n`,
  'a hexadecimal PID': `0x${living.toString(16)}\n`,
  'a fractional PID': `${living}.5\n`,
  'a PID and a word': `${living} running\n`,
  words: 'not a number\n',
  binary,
  'a PID and then a megabyte': `${living}\n${'x'.repeat(2 ** 20)}\n`,
  'a megabyte of digits': '1'.repeat(2 ** 20),
  'a megabyte of zeros': Buffer.alloc(2 ** 20),
  'an unfinished JSON line': `${living}\n{"v":1,"token":"0123`,
  'a JSON line that is no object': `${living}\n[1]\n`,
};

test.for(Object.entries(contents))(
  'a malformed lockfile (%s) is held while it is young and dead when it is old',
  async ([, content]) => {
    const [judge, other] = await driver.pool(2);
    const bucket = temp.directory();
    writeLockfile(bucket, content);
    const young = await judge.call('inspect', { bucket });
    expect(young).toMatchObject({ state: 'held', evidence: 'unstamped' });
    for (const attempt of ['tryAcquire', 'tryAcquireSync'] as const) {
      // Young again, however slow this machine is.
      ageLockfile(bucket, 0);
      expect(await judge.call(attempt, { bucket })).toBeNull();
    }
    expect(readFileSync(lockfileOf(bucket)).equals(Buffer.from(content))).toBe(true);

    ageLockfile(bucket, HOUR_MS);
    const old = await judge.call('inspect', { bucket });
    expect(old.state).toBe('stale');
    const hold = taken(await judge.call('tryAcquire', { bucket }));
    expect(await other.call('tryAcquire', { bucket })).toBeNull();
    expect(await judge.call('release', { hold: hold.hold })).toBe(true);
  },
);

test('a record that was cut off anywhere is never mistaken for another', async () => {
  const [judge] = await driver.pool(1);
  const source = temp.directory();
  const dead = await leaveDeadRecord(driver, source);
  const whole = readFileSync(lockfileOf(source));
  const bucket = temp.directory();
  const firstLine = `${dead.pid}\n`.length;
  for (let length = 0; length < whole.length; length += 1) {
    writeLockfile(bucket, whole.subarray(0, length));
    const report = await judge.call('inspect', { bucket });
    // The first line alone is a whole PID-only record.
    const expected = length === firstLine ? ['stale', 'process-gone'] : ['held', 'unstamped'];
    expect([report.state, report.evidence], `${length} bytes`).toEqual(expected);
  }
});

test('a malformed lockfile that nobody changes is given up by who watches it', async () => {
  const [fresh, future, sync] = await driver.pool(3);
  const buckets = [temp.directory(), temp.directory(), temp.directory()] as const;
  for (const bucket of buckets) writeLockfile(bucket, '');
  ageLockfile(buckets[1], -HOUR_MS);
  ageLockfile(buckets[2], -HOUR_MS);
  expect(await future.call('inspect', { bucket: buckets[1] })).toMatchObject({
    state: 'held',
    evidence: 'unstamped',
  });

  // One attempt sets the date from the future to now, so that the file can age at all.
  expect(await future.call('tryAcquire', { bucket: buckets[1] })).toBeNull();
  expect(lockfileAgeMs(buckets[1])).toBeGreaterThanOrEqual(-1);
  const waits = [
    fresh.call('acquire', { bucket: buckets[0], waitMs: 60_000 }),
    future.call('acquire', { bucket: buckets[1], waitMs: 60_000 }),
    sync.call('acquireSync', { bucket: buckets[2], waitMs: 60_000 }),
  ];
  expect(await Promise.all(waits)).toHaveLength(3);
});

test('a lockfile whose writer is still at it is held until it is complete', async () => {
  const [judge] = await driver.pool(1);
  const bucket = temp.directory();
  for (const soFar of ['', '4', String(living)]) {
    writeLockfile(bucket, soFar);
    expect(await judge.call('tryAcquire', { bucket })).toBeNull();
  }
  writeLockfile(bucket, `${living}\n`);
  ageLockfile(bucket, HOUR_MS);
  expect(await judge.call('inspect', { bucket })).toMatchObject({
    state: 'held',
    evidence: 'process-alive',
  });
});
