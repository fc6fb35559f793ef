import { chmodSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { secondThreadOf, stateOf } from '../helpers/proc.js';
import { useProcesses } from '../helpers/processes.js';
import { lockfileOf, writeLockfile } from '../helpers/records.js';
import { taken } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

const driver = useDriver();
const processes = useProcesses();
const temp = useTempDir();

const dead: Record<string, () => Promise<number>> = {
  'a process that is gone': () => processes.gone(),
  'a zombie': () => processes.zombie(),
  'a thread': async () => {
    const [, living] = await driver.pool(2);
    return secondThreadOf(living.tracePid);
  },
  'a PID that was never given out': () => Promise.resolve(2 ** 31 - 1),
};

test.for(Object.entries(dead))('a PID-only record of %s is dead', async ([, find]) => {
  const [judge] = await driver.pool(1);
  const bucket = temp.directory();
  const pid = await find();
  for (const attempt of ['tryAcquire', 'tryAcquireSync'] as const) {
    writeLockfile(bucket, `${pid}\n`);
    expect(await judge.call('inspect', { bucket })).toMatchObject({
      state: 'stale',
      evidence: 'process-gone',
      pid,
      process: 'gone',
    });
    const hold = taken(await judge.call(attempt, { bucket }));
    await judge.call('release', { hold: hold.hold });
  }
});

const alive: Record<string, (context: TestContext) => Promise<number>> = {
  'a living process': async () => {
    const [, living] = await driver.pool(2);
    return living.pid;
  },
  'the judge itself': async () => {
    const [judge] = await driver.pool(1);
    return judge.pid;
  },
  'a zombie leader whose other thread lives': (context) => {
    requireTool(context, 'cc');
    return processes.zombieLeader(temp.directory('scratch'));
  },
  'a stopped process': async () => {
    const holder = await driver.spawn();
    await holder.suspend(stateOf);
    return holder.pid;
  },
};

test.for(Object.entries(alive))('a PID-only record of %s is held', async ([, find], context) => {
  const [judge] = await driver.pool(1);
  const bucket = temp.directory();
  const pid = await find(context);
  writeLockfile(bucket, `${pid}\n`);
  const seen = { state: 'held', evidence: 'process-alive', pid, process: 'alive' };
  expect(await judge.call('inspect', { bucket })).toMatchObject(seen);
  for (const attempt of ['tryAcquire', 'tryAcquireSync'] as const) {
    expect(await judge.call(attempt, { bucket })).toBeNull();
  }
  expect(readFileSync(lockfileOf(bucket), 'utf8')).toBe(`${pid}\n`);
});

test('a process that we may not signal is alive', async () => {
  // Root may signal everybody, so it judges as another user; others cannot signal process 1.
  const isRoot = process.getuid?.() === 0;
  const judge = await driver.spawn(isRoot ? { uid: 65_534 } : {});
  const pid = isRoot ? process.pid : 1;
  const bucket = temp.directory();
  writeLockfile(bucket, `${pid}\n`);
  // Nothing but the verdict keeps the judge from taking the lock.
  chmodSync(bucket, 0o777);
  chmodSync(lockfileOf(bucket), 0o666);
  expect(await judge.call('inspect', { bucket })).toMatchObject({
    state: 'held',
    evidence: 'process-alive',
    pid,
    process: 'alive',
  });
  expect(await judge.call('tryAcquire', { bucket })).toBeNull();

  writeLockfile(bucket, `${await processes.gone()}\n`);
  expect(await judge.call('tryAcquire', { bucket })).not.toBeNull();
});

test('a lockfile that we may not read is held', async (context) => {
  requireTool(context, 'root');
  const [holder] = await driver.pool(1);
  const judge = await driver.spawn({ uid: 65_534 });
  const bucket = temp.directory();
  chmodSync(bucket, 0o777);
  await holder.call('acquire', { bucket });
  const seen = { state: 'held', evidence: 'unknown' };
  expect(await judge.call('inspect', { bucket })).toMatchObject(seen);
  expect(await judge.call('tryAcquire', { bucket })).toBeNull();
});

test('the holder of a PID-only record excludes, and is reclaimed once it is dead', async () => {
  const [judge] = await driver.pool(1);
  const holder = await driver.spawn();
  const bucket = temp.directory();
  await holder.call('acquire', { bucket, lockOptions: { recordFormat: 'pid' } });
  expect(readFileSync(lockfileOf(bucket), 'utf8')).toMatch(new RegExp(`^${holder.pid} ?\n$`));
  expect(await judge.call('tryAcquire', { bucket })).toBeNull();
  await holder.kill();
  expect(await judge.call('tryAcquire', { bucket })).not.toBeNull();
});

test('a guarded PID-only record with a free guard is dead though its PID is reused', async () => {
  const [judge, living] = await driver.pool(2);
  const bucket = temp.directory();
  writeLockfile(bucket, `${living.pid} \n`);
  expect(await judge.call('inspect', { bucket })).toMatchObject({
    state: 'stale',
    evidence: 'guard-free',
    pid: living.pid,
  });
  expect(await judge.call('tryAcquire', { bucket })).not.toBeNull();
});

test('a stopped holder is alive', async () => {
  const [judge] = await driver.pool(1);
  for (const recordFormat of ['full', 'pid']) {
    const holder = await driver.spawn();
    const bucket = temp.directory();
    const { hold } = await holder.call('acquire', { bucket, lockOptions: { recordFormat } });
    await holder.suspend(stateOf);
    expect(await judge.call('inspect', { bucket })).toMatchObject({
      state: 'held',
      evidence: 'guard',
      process: 'alive',
    });
    expect(await judge.call('tryAcquire', { bucket })).toBeNull();
    holder.resume();
    expect(await holder.call('release', { hold })).toBe(true);
  }
});
