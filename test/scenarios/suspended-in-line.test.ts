import { test } from 'vitest';

import { expectEmpty } from '../helpers/bucket.js';
import { useDriver } from '../helpers/driver.js';
import { goOn, lineUp, takeTurn, takeTurns, untilAtHead } from '../helpers/line-up.js';
import { stateOf } from '../helpers/proc.js';
import { useTempDir } from '../helpers/temp-dir.js';

const driver = useDriver();
const temp = useTempDir();

async function standing() {
  const bucket = temp.directory();
  const [holder, head, second, third, last] = await driver.spawnMany(5);
  const { hold } = await holder.call('acquire', { bucket });
  await lineUp(bucket, [head, second, third, last]);
  await untilAtHead(bucket, head);
  return { bucket, holder, hold, head, second, third, last };
}

test('a suspended head holds nobody up, and is served once it goes on', async () => {
  const { bucket, holder, hold, head, second, third, last } = await standing();
  await head.suspend(stateOf);
  await holder.call('release', { hold });
  await takeTurns([second, third, last]);
  await goOn(bucket, [holder, second, third, last]);
  head.resume();
  await takeTurn(head);
  await expectEmpty(bucket);
});

test('a suspended waiter in the middle holds nobody up, and is served once it goes on', async () => {
  const { bucket, holder, hold, head, second, third, last } = await standing();
  await second.suspend(stateOf);
  await holder.call('release', { hold });
  await takeTurns([head, third, last]);
  await goOn(bucket, [holder, head, third, last]);
  second.resume();
  await takeTurn(second);
  await expectEmpty(bucket);
});

test('when all in line are suspended, a newcomer is served, and later all of them', async () => {
  const { bucket, holder, hold, head, second, third, last } = await standing();
  const line = [head, second, third, last];
  const newcomer = await driver.spawn();
  await Promise.all(line.map((one) => one.suspend(stateOf)));
  await holder.call('release', { hold });
  await goOn(bucket, [newcomer, holder]);
  for (const one of line) one.resume();
  await takeTurns(line);
  await expectEmpty(bucket);
});
