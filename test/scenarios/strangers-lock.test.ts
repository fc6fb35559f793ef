import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';

import { expectEmpty } from '../helpers/bucket.js';
import { useDriver } from '../helpers/driver.js';
import { lineOf } from '../helpers/kernel-line.js';
import { goOn, lineUp, takeTurns } from '../helpers/line-up.js';
import { useScripts } from '../helpers/script.js';
import { taken } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';
import { until } from '../helpers/until.js';

const driver = useDriver();
const temp = useTempDir();
const scripts = useScripts(temp);

/** Locks the directory as a program would that knows nothing of buckets; answers its PID. */
async function lockDirectory(context: TestContext, bucket: string): Promise<number> {
  requireTool(context, 'flock');
  const stranger = scripts.startProgram([
    'flock',
    '--no-fork',
    bucket,
    ...['sh', '-c', 'echo locked; exec sleep 3600'],
  ]);
  await stranger.says('locked');
  return stranger.pid;
}

test("somebody else's lock on the bucket directory holds nobody up", async (context) => {
  const bucket = temp.directory();
  const stranger = await lockDirectory(context, bucket);
  const [first, ...others] = await driver.spawnMany(4);
  const { hold } = await first.call('acquire', { bucket });
  for (const other of others) await other.call('startWait', { bucket, wait: 'in line' });
  await first.call('release', { hold });
  await takeTurns(others);
  await goOn(bucket, [first, ...others]);
  expect(lineOf(bucket)[0]).toBe(stranger);
  await expectEmpty(bucket);
});

test("somebody else's lock on the bucket directory in the midst of a wait holds nobody up", async (context) => {
  const bucket = temp.directory();
  const [holder, first, second] = await driver.spawnMany(3);
  const { hold } = await holder.call('acquire', { bucket });
  // It stands in line itself, and gets the directory once the head has its turn.
  await lineUp(bucket, [first]);
  const locking = lockDirectory(context, bucket);
  await until('the stranger is in line', () => lineOf(bucket).length === 2);
  await lineUp(bucket, [second]);
  await holder.call('release', { hold });
  const stranger = await locking;
  await takeTurns([first, second]);
  await goOn(bucket, [holder, first, second]);
  expect(lineOf(bucket)[0]).toBe(stranger);
  await expectEmpty(bucket);
});

test('attempts that do not wait need no place in line', async (context) => {
  const bucket = temp.directory();
  await lockDirectory(context, bucket);
  const [user] = await driver.spawnMany(1);
  for (const attempt of ['tryAcquire', 'tryAcquireSync'] as const) {
    const { hold } = taken(await user.call(attempt, { bucket }));
    expect(await user.call('release', { hold })).toBe(true);
  }
  for (const attempt of ['acquire', 'acquireSync'] as const) {
    const { hold } = await user.call(attempt, { bucket, waitMs: 0 });
    expect(await user.call('release', { hold })).toBe(true);
  }
});
