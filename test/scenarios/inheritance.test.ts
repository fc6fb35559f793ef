import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { taken } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';

const ROUNDS = 10;

const driver = useDriver();
const temp = useTempDir();

const endings = ['exit', 'kill'] as const;

test.for(endings)(
  'a detached child inherits nothing from a holder that ends by %s',
  async (end) => {
    const [judge] = await driver.pool(1);
    const holder = await driver.spawn();
    const bucket = temp.directory();
    await holder.call('acquire', { bucket });
    const child = await driver.spawnDetached(holder);
    expect(await child.call('tryAcquire', { bucket })).toBeNull();
    if (end === 'exit') holder.call('exit', {}).catch(() => undefined);
    else await holder.kill();
    await holder.ended;

    expect(await judge.call('tryAcquire', { bucket })).not.toBeNull();
    expect(await child.call('ping', {})).toBe('pong');
  },
);

test('a release counts while a child of the holder lives', async () => {
  const [judge] = await driver.pool(1);
  const holder = await driver.spawn();
  const bucket = temp.directory();
  const { hold } = await holder.call('acquire', { bucket });
  const child = await driver.spawnDetached(holder);
  expect(await holder.call('release', { hold })).toBe(true);
  expect(await judge.call('tryAcquire', { bucket })).not.toBeNull();
  expect(await child.call('ping', {})).toBe('pong');
});

test('nothing is inherited while a thread spawns children in a loop', async () => {
  const [judge] = await driver.pool(1);
  const holder = await driver.spawn();
  const bucket = temp.directory();
  const spawner = await driver.startWorker(holder);
  const loop = spawner.call('spawnInLoop', {});
  for (let round = 0; round < 100; round += 1) {
    const { hold } = await holder.call(round % 2 === 0 ? 'acquire' : 'acquireSync', { bucket });
    expect(await holder.call('release', { hold })).toBe(true);
    const next = taken(await judge.call('tryAcquire', { bucket }));
    await judge.call('release', { hold: next.hold });
  }
  await spawner.call('stop', {});
  expect(await loop).toBeGreaterThan(0);
});

test('a holder killed while its thread spawns long-lived children strands nobody', async () => {
  const [judge] = await driver.pool(1);
  const bucket = temp.directory();
  for (let round = 0; round < ROUNDS; round += 1) {
    const holder = await driver.spawn();
    const spawner = await driver.startWorker(holder);
    const children = [];
    await holder.call('acquire', { bucket });
    for (let child = 0; child < 2; child += 1) children.push(driver.spawnDetached(spawner));
    const loop = spawner.call('spawnInLoop', {}).catch(() => undefined);
    const survivors = await Promise.all(children);
    await holder.kill();
    await loop;
    // The children live on, so a guard that one of them had inherited would never become free.
    const hold = await judge.call('acquire', { bucket, waitMs: 30_000 });
    for (const survivor of survivors) expect(await survivor.call('ping', {})).toBe('pong');
    expect(await judge.call('release', { hold: hold.hold })).toBe(true);
    await Promise.all(survivors.map((survivor) => survivor.kill()));
  }
});
