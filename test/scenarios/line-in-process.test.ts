import { test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { lineOf } from '../helpers/kernel-line.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { until } from '../helpers/until.js';

const temp = useTempDir();
const driver = useDriver();

test('a thread in a synchronous wait is served before its own asynchronous requests', async () => {
  const [holder, waiter] = await driver.spawnMany(2);
  const [bucket, other] = [temp.directory(), temp.directory()];
  const { hold } = await holder.call('acquire', { bucket });
  const { hold: ofOther } = await holder.call('acquire', { bucket: other });
  const wait = 'asynchronous';
  await waiter.call('startWait', { bucket, wait });
  const neighbour = await driver.startWorker(waiter);
  await neighbour.call('startWait', { bucket, wait });
  const blocked = waiter.call('acquireSync', { bucket: other, waitMs: 60_000 });
  await until('the thread is blocked', () => lineOf(other).includes(waiter.pid));
  // The thread that is blocked could not take what it is granted: its neighbour gets it.
  await holder.call('release', { hold });
  const ofNeighbour = await neighbour.call('endWait', { wait });
  await holder.call('release', { hold: ofOther });
  await blocked;
  await neighbour.call('release', { hold: ofNeighbour.hold });
  await waiter.call('endWait', { wait });
});
