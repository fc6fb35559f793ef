import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import type { Participant } from '../helpers/participant.js';
import { mustBlock } from '../helpers/must-block.js';
import { readRecord, writeRecord } from '../helpers/records.js';
import { taken } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

const driver = useDriver();
const temp = useTempDir();

/** A process that is number 1 of a PID namespace of its own. */
function spawnFirstOfNamespace(context: TestContext): Promise<Participant> {
  requireTool(context, 'pid-namespace');
  return driver.spawn({
    wrapper: ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'],
  });
}

test('two processes of one PID in two namespaces exclude each other', async (context) => {
  const holder = await spawnFirstOfNamespace(context);
  const other = await spawnFirstOfNamespace(context);
  expect([holder.pid, other.pid]).toEqual([1, 1]);
  const bucket = temp.directory();
  await holder.call('acquire', { bucket });

  const report = await other.call('inspect', { bucket });
  expect(report).toMatchObject({ state: 'held', evidence: 'guard', pid: 1 });
  expect(report.thisProcess ?? false).toBe(false);
  expect(await other.call('tryAcquire', { bucket })).toBeNull();
  const ends = await mustBlock('acquire', other.call('acquire', { bucket, waitMs: 60_000 }));
  await holder.kill();
  await ends();
});

test('a dead holder of another namespace is dead though its PID is alive here', async (context) => {
  const bucket = temp.directory();
  for (const attempt of ['tryAcquire', 'tryAcquireSync'] as const) {
    const holder = await spawnFirstOfNamespace(context);
    const judge = await spawnFirstOfNamespace(context);
    await holder.call('acquire', { bucket });
    await holder.kill();
    expect(readRecord(bucket).pid).toBe(judge.pid);
    const report = await judge.call('inspect', { bucket });
    expect(report).toMatchObject({ state: 'stale', evidence: 'guard-free', pid: 1 });
    expect(report.thisProcess ?? false).toBe(false);
    expect(report.process).not.toBe('alive');
    const { hold } = taken(await judge.call(attempt, { bucket }));
    await judge.call('release', { hold });
  }
});

test('a holder in a namespace is judged from outside, and the other way round', async (context) => {
  const inside = await spawnFirstOfNamespace(context);
  const outside = await driver.spawn();
  const pairs = [
    [inside, outside],
    [outside, inside],
  ] as const;
  const bucket = temp.directory();
  for (const [holder, judge] of pairs) {
    const { hold } = await holder.call('acquire', { bucket });
    expect(await judge.call('inspect', { bucket })).toMatchObject({
      state: 'held',
      evidence: 'guard',
      pid: holder.pid,
    });
    expect(await judge.call('tryAcquire', { bucket })).toBeNull();
    expect(await holder.call('release', { hold })).toBe(true);
  }
  // What the dead one leaves behind names a living PID on the side of the judge.
  await inside.call('acquire', { bucket });
  const record = readRecord(bucket);
  await inside.kill();
  writeRecord(bucket, { ...record, pid: outside.pid });
  expect(await outside.call('tryAcquire', { bucket })).not.toBeNull();
});
