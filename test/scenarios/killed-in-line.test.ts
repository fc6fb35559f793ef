import { expect, test } from 'vitest';

import { expectEmpty } from '../helpers/bucket.js';
import { useDriver } from '../helpers/driver.js';
import { lineUp, takeTurn, takeTurns, untilAtHead } from '../helpers/line-up.js';
import { useTempDir } from '../helpers/temp-dir.js';

const driver = useDriver();
const temp = useTempDir();

/** A holder and four that wait for it, in order. */
async function standing() {
  const bucket = temp.directory();
  const [holder, head, second, third, last] = await driver.spawnMany(5);
  const { hold } = await holder.call('acquire', { bucket });
  await lineUp(bucket, [head, second, third, last]);
  await untilAtHead(bucket, head);
  return { bucket, holder, hold, head, second, third, last };
}

test('a holder that is killed makes room for all in line', async () => {
  const { bucket, holder, head, second, third, last } = await standing();
  await holder.kill();
  await takeTurns([head, second, third, last]);
  await expectEmpty(bucket);
});

test('a head that is killed leaves its place to the next', async () => {
  const { bucket, holder, hold, head, second, third, last } = await standing();
  await head.kill();
  await untilAtHead(bucket, second);
  await holder.call('release', { hold });
  await takeTurns([second, third, last]);
  await expectEmpty(bucket);
});

test('whoever is killed in the middle of the line is no gap in it', async () => {
  const { bucket, holder, hold, head, second, third, last } = await standing();
  await Promise.all([second.kill(), third.kill()]);
  await holder.call('release', { hold });
  await takeTurn(head);
  await takeTurn(last);
  await expectEmpty(bucket);
});

test('the holder and its heads, killed one after the other, cost the rest no turn', async () => {
  const { bucket, holder, head, second, third, last } = await standing();
  await Promise.all([holder.kill(), head.kill(), second.kill()]);
  await takeTurns([third, last]);
  await expectEmpty(bucket);
});

test('all killed at once leave a lock that the next attempt gets', async () => {
  const { bucket, holder, head, second, third, last } = await standing();
  const newcomer = await driver.spawn();
  await Promise.all([holder, head, second, third, last].map((one) => one.kill()));
  const { hold } = await newcomer.call('acquire', { bucket, waitMs: 0 });
  expect(await newcomer.call('release', { hold })).toBe(true);
  await expectEmpty(bucket);
});
