import { copyFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import type { Participant } from '../helpers/participant.js';
import { leaveDeadRecord, lockfileOf, readRecord, writeRecord } from '../helpers/records.js';
import type { RecordFields } from '../helpers/records.js';
import { taken, tokenOf } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';

const driver = useDriver();
const temp = useTempDir();

interface Case {
  /** How the record of a process that was killed is altered. */
  readonly forge: (dead: RecordFields, judge: Participant, living: Participant) => RecordFields;
  /** What is seen of the process that has the recorded PID now. It must decide nothing. */
  readonly process: string;
}

const cases: Record<string, Case> = {
  'its process is gone': {
    forge: (dead) => dead,
    process: 'gone',
  },
  'its PID belongs to another living program now': {
    forge: (dead, _judge, living) => ({ ...dead, pid: living.pid }),
    process: 'reused',
  },
  'its PID is our own, from an earlier run': {
    forge: (dead, judge) => ({ ...dead, pid: judge.pid }),
    process: 'reused',
  },
  'it is from another boot and its PID is alive in this one': {
    forge: (dead, _judge, living) => ({
      ...dead,
      pid: living.pid,
      boot: '00000000-0000-4000-8000-000000000000',
    }),
    process: 'reused',
  },
  'it was written on another host': {
    forge: (dead) => ({ ...dead, host: 'elsewhere.example' }),
    process: 'gone',
  },
};

test.for(Object.entries(cases))(
  'a guarded record with a free guard is dead when %s',
  async ([, { forge, process }]) => {
    const [judge, living] = await driver.pool(2);
    const bucket = temp.directory();
    const dead = await leaveDeadRecord(driver, bucket);
    expect(dead).toMatchObject({ v: 1, guarded: true });
    for (const attempt of ['tryAcquire', 'tryAcquireSync'] as const) {
      const forged = forge(dead, judge, living);
      writeRecord(bucket, forged);
      const seen = { state: 'stale', evidence: 'guard-free', pid: forged.pid, process };
      expect(await judge.call('inspect', { bucket })).toMatchObject(seen);
      const report = await judge.call('inspectSync', { bucket });
      expect(report).toMatchObject(seen);
      expect(report.thisProcess ?? false).toBe(false);
      const hold = taken(await judge.call(attempt, { bucket }));
      await judge.call('release', { hold: hold.hold });
    }
  },
);

test('a copy of a living holder’s record in another bucket is dead', async () => {
  const [judge, holder] = await driver.pool(2);
  const original = temp.directory();
  const { hold } = await holder.call('acquire', { bucket: original });
  const bucket = temp.directory();
  copyFileSync(lockfileOf(original), lockfileOf(bucket));

  const seen = { state: 'stale', evidence: 'guard-free', pid: holder.pid, process: 'alive' };
  expect(await judge.call('inspect', { bucket })).toMatchObject(seen);
  expect(await judge.call('tryAcquire', { bucket })).not.toBeNull();
  expect(await holder.call('verify', { hold })).toBe(true);
});

test('a held guard means held, whatever the record says', async () => {
  const [judge, holder] = await driver.pool(2);
  const dead = await leaveDeadRecord(driver, temp.directory());
  const bucket = temp.directory();
  await holder.call('acquire', { bucket });
  // Written into the same file, whose guard its holder keeps.
  const forgeries = [dead, { ...dead, boot: 'another' }, { ...readRecord(bucket), pid: judge.pid }];
  for (const forged of forgeries) {
    writeRecord(bucket, forged);
    expect(await judge.call('inspect', { bucket })).toMatchObject({
      state: 'held',
      evidence: 'guard',
      pid: forged.pid,
    });
    expect(await judge.call('tryAcquire', { bucket })).toBeNull();
    expect(await judge.call('breakLock', { bucket, token: forged.token })).toBe(false);
  }
});

test('an unknown version of the record cannot be judged and counts as held', async () => {
  const [judge] = await driver.pool(1);
  const bucket = temp.directory();
  const dead = await leaveDeadRecord(driver, bucket);
  writeRecord(bucket, { ...dead, v: 2 });
  const report = await judge.call('inspect', { bucket });
  expect(report).toMatchObject({ state: 'held', evidence: 'unknown' });
  expect(await judge.call('tryAcquire', { bucket })).toBeNull();
  expect(await judge.call('breakLock', { bucket, token: tokenOf(report) })).toBe(true);
  expect(await judge.call('tryAcquire', { bucket })).not.toBeNull();
});
