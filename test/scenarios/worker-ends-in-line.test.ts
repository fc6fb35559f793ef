import { expect, test } from 'vitest';

import { expectEmpty } from '../helpers/bucket.js';
import { useDriver } from '../helpers/driver.js';
import { lineUp, takeTurn, untilAtHead, untilInLine } from '../helpers/line-up.js';
import { mustBlock } from '../helpers/must-block.js';
import type { Participant } from '../helpers/participant.js';
import { readRecord } from '../helpers/records.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { until } from '../helpers/until.js';

const driver = useDriver();
const temp = useTempDir();

const ROUNDS = 30;
const wait = 'of the worker';

interface Taking {
  readonly bucket: string;
  readonly other: Participant;
  readonly host: Participant;
  readonly worker: Participant;
}

/** What a worker of `host` does when it ends, while somebody else holds the lock. */
const states: Record<string, (taking: Taking) => Promise<readonly Participant[]>> = {
  'at the head': async ({ bucket, host, worker }) => {
    await worker.call('startWait', { bucket, wait });
    await untilAtHead(bucket, host);
    return [];
  },
  'behind another thread': async ({ bucket, host, worker }) => {
    await lineUp(bucket, [host]);
    await untilAtHead(bucket, host);
    await worker.call('startWait', { bucket, wait });
    return [host];
  },
  'behind another process': async ({ bucket, host, other, worker }) => {
    await lineUp(bucket, [other]);
    await untilAtHead(bucket, other);
    await worker.call('startWait', { bucket, wait });
    await untilInLine(bucket, host);
    return [other];
  },
  'in a synchronous wait at the head': async ({ bucket, host, worker }) => {
    worker.call('acquireSync', { bucket, waitMs: 60_000 }).catch(() => undefined);
    await untilAtHead(bucket, host);
    return [];
  },
  'in a synchronous wait behind another process': async ({ bucket, host, other, worker }) => {
    await lineUp(bucket, [other]);
    await untilAtHead(bucket, other);
    worker.call('acquireSync', { bucket, waitMs: 60_000 }).catch(() => undefined);
    await untilInLine(bucket, host);
    return [other];
  },
};

/** Both ways to end a worker from its own process. */
const ends: Record<string, (taking: Taking) => Promise<unknown>> = {
  terminated: ({ host, worker }) => host.call('terminateWorker', { id: worker.id }),
  'that calls process.exit': async ({ worker }) => {
    worker.call('exit', {}).catch(() => undefined);
    await worker.ended;
  },
};

/** The process ends by itself, as one does that has nothing left to do. */
async function expectEnd(host: Participant): Promise<void> {
  host.call('leave', {}).catch(() => undefined);
  expect(await host.ended).toEqual({ why: 'code 0. ' });
}

const cases = Object.entries(states).flatMap(([state, enter]) =>
  Object.entries(ends)
    // A thread that is blocked cannot end itself.
    .filter(([end]) => end === 'terminated' || !state.includes('synchronous'))
    .map(([end, make]) => ({ state, enter, end, make })),
);

test.for(cases)('a worker $end $state is missed by nobody', async ({ enter, make }) => {
  const [holder, other, host, next] = await driver.spawnMany(4);
  const worker = await driver.startWorker(host);
  const bucket = temp.directory();
  const { hold } = await holder.call('acquire', { bucket });
  const taking = { bucket, other, host, worker };
  const before = await enter(taking);
  await lineUp(bucket, [next]);
  await make(taking);
  await worker.ended;
  expect(await holder.call('verify', { hold })).toBe(true);
  await holder.call('release', { hold });
  for (const one of [...before, next]) await takeTurn(one);
  await expectEmpty(bucket);
  // The process can still wait, and end.
  const { hold: again } = await holder.call('acquire', { bucket });
  await lineUp(bucket, [host]);
  await holder.call('release', { hold: again });
  await takeTurn(host);
  await expectEnd(host);
});

test('a worker terminated while it cannot take what it was granted gives it back', async () => {
  const [holder, host, next] = await driver.spawnMany(3);
  const worker = await driver.startWorker(host);
  const bucket = temp.directory();
  const { hold, token } = await holder.call('acquire', { bucket });
  await worker.call('startWait', { bucket, wait });
  await untilAtHead(bucket, host);
  await lineUp(bucket, [next]);
  worker.call('spin', {}).catch(() => undefined);
  await holder.call('release', { hold });
  await until('the worker is granted it', async () => {
    const report = await host.call('inspect', { bucket });
    return report.pid === host.pid && report.token !== token;
  });
  await host.call('terminateWorker', { id: worker.id });
  await takeTurn(next);
  await expectEmpty(bucket);
  await expectEnd(host);
});

test('a worker terminated in the moment of the release strands nobody', async () => {
  const [holder, host, next] = await driver.spawnMany(3);
  const bucket = temp.directory();
  for (let round = 0; round < ROUNDS; round += 1) {
    const worker = await driver.startWorker(host);
    const { hold } = await holder.call('acquire', { bucket, waitMs: 30_000 });
    if (round % 2 === 0) await worker.call('startWait', { bucket, wait });
    else worker.call('acquireSync', { bucket, waitMs: 60_000 }).catch(() => undefined);
    await untilAtHead(bucket, host);
    await lineUp(bucket, [next]);
    await Promise.all([
      host.call('terminateWorker', { id: worker.id }),
      holder.call('release', { hold }),
    ]);
    await takeTurn(next);
  }
  await expectEmpty(bucket);
  await expectEnd(host);
});

test('a worker terminated while it holds makes room for the next in line', async () => {
  const [host, next] = await driver.spawnMany(2);
  const worker = await driver.startWorker(host);
  const bucket = temp.directory();
  await worker.call('acquire', { bucket });
  expect(readRecord(bucket).pid).toBe(host.pid);
  await lineUp(bucket, [next]);
  await untilAtHead(bucket, next);
  await host.call('terminateWorker', { id: worker.id });
  await takeTurn(next);
  await expectEmpty(bucket);
  await expectEnd(host);
});

test('a process that calls process.exit with waits pending ends, and is missed by nobody', async () => {
  const [holder, first, host, next] = await driver.spawnMany(4);
  const [bucket, other] = [temp.directory(), temp.directory()];
  const { hold } = await holder.call('acquire', { bucket });
  const { hold: ofOther } = await holder.call('acquire', { bucket: other });
  // It is at the head of one line, and in the middle of another.
  await lineUp(bucket, [host]);
  await untilAtHead(bucket, host);
  await lineUp(other, [first, host]);
  await host.call('startWait', { bucket, wait: 'behind itself' });
  await lineUp(bucket, [next]);
  host.call('exit', {}).catch(() => undefined);
  expect(await host.ended).toEqual({ why: 'code 0. ' });
  await holder.call('release', { hold });
  await takeTurn(next);
  await lineUp(other, [next]);
  await holder.call('release', { hold: ofOther });
  await takeTurn(first);
  await takeTurn(next);
  await expectEmpty(bucket);
  await expectEmpty(other);
});

test('a pending wait keeps a process until it is served, and not longer', async () => {
  const [holder, host] = await driver.spawnMany(2);
  const bucket = temp.directory();
  const { hold } = await holder.call('acquire', { bucket });
  await host.call('startWait', { bucket, wait });
  host.call('leave', {}).catch(() => undefined);
  const ends = await mustBlock('the process', host.ended);
  await holder.call('release', { hold });
  expect(await ends()).toEqual({ why: 'code 0. ' });
  await expectEmpty(bucket);
});

test.for(Object.entries(ends))(
  'a worker %s, the only one with the addon, while it waits in the kernel harms nobody',
  async ([, make]) => {
    const [holder, host, next] = await driver.spawnMany(3);
    const worker = await driver.startWorker(host);
    const bucket = temp.directory();
    const { hold } = await holder.call('acquire', { bucket });
    expect(await host.call('hasAddon', {})).toBe(false);
    await worker.call('startWait', { bucket, wait });
    await untilAtHead(bucket, host);
    expect(await host.call('hasAddon', {})).toBe(true);
    await make({ bucket, other: next, host, worker });
    await lineUp(bucket, [next]);
    await holder.call('release', { hold });
    await takeTurn(next);
    const { hold: again } = await next.call('acquire', { bucket });
    await lineUp(bucket, [host]);
    await next.call('release', { hold: again });
    await takeTurn(host);
    await expectEmpty(bucket);
    await expectEnd(host);
  },
);
