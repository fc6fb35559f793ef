import { spawnSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { rmSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { BucketLock } from '../lib/bucket-lock.js';
import { diagnostics } from '../lib/diagnostics.js';
import { NamedLocks, namedLock } from '../lib/named-lock.js';
import { useDriver } from './helpers/driver.js';
import { program } from './helpers/program.js';
import { leaveDeadRecord, lockfileOf, writeRecord } from './helpers/records.js';
import { useTempDir } from './helpers/temp-dir.js';
import { spinUntil, until } from './helpers/until.js';

const temp = useTempDir();
const driver = useDriver();

const CHANNELS = ['acquire', 'wait', 'reclaim', 'release', 'lost'] as const;
type Published = [channel: string, message: Record<string, unknown>];

const published: Published[] = [];

function note(message: unknown, channel: string | symbol): void {
  published.push([String(channel), message as Record<string, unknown>]);
}

/** What has been published on a channel, the first of it. */
function of(name: (typeof CHANNELS)[number]): Published | undefined {
  return published.find(([channel]) => channel === `bucketlock:${name}`);
}

/** What has been published since it was asked last, and by which channel. */
function taken(): Published[] {
  return published.splice(0);
}

beforeEach(() => {
  for (const name of CHANNELS) subscribe(`bucketlock:${name}`, note);
});
afterEach(() => {
  for (const name of CHANNELS) unsubscribe(`bucketlock:${name}`, note);
  published.length = 0;
});

const faces = ['acquire', 'acquireSync'] as const;
const any = expect.any(Number) as number;

test.for(faces)('%s and a release are published', async (acquire) => {
  const lock = new BucketLock(temp.directory());
  const held = await lock[acquire]({ label: 'nightly' });
  const { path } = lock;
  const { token } = held;
  expect(taken()).toEqual([
    ['bucketlock:acquire', { kind: 'bucket', path, token, label: 'nightly', waitedMs: 0 }],
  ]);
  expect(await held.verify()).toBe(true);
  await held.release();
  await held.release();
  expect(taken()).toEqual([['bucketlock:release', { kind: 'bucket', path, token }]]);
});

test('a wait is published with the holder, and then how long it took', async () => {
  const lock = new BucketLock(temp.directory());
  const { path } = lock;
  const first = await lock.acquire({ label: 'first' });
  taken();
  const second = lock.acquire({
    waitMs: 20_000,
    label: 'second',
    onWait: () => setTimeout(() => void first.release(), 30),
  });
  await (await second).release();
  const [wait, release, acquire] = taken();
  expect(wait).toEqual([
    'bucketlock:wait',
    {
      kind: 'bucket',
      path,
      label: 'second',
      waitMs: any,
      holder: expect.objectContaining({
        state: 'held',
        label: 'first',
        thisProcess: true,
      }) as object,
    },
  ]);
  expect(wait?.[1]['waitMs']).toBeLessThanOrEqual(20_000);
  // The waiter may get it before the release has come back to this thread.
  const byChannel = new Map([release, acquire] as Published[]);
  expect(byChannel.get('bucketlock:release')).toMatchObject({ token: first.token });
  expect(byChannel.get('bucketlock:acquire')?.['waitedMs']).toBeGreaterThan(0);
});

test.for([
  [namedLock('published'), { kind: 'named', name: 'published' }],
  [new NamedLocks('acme').lock('published'), { kind: 'named', name: 'published', scope: 'acme' }],
] as const)('a named lock publishes its name and scope: %s', async ([lock, id]) => {
  const first = await lock.acquire({ label: 'first' });
  const second = lock.acquire({ waitMs: 20_000, label: 'second' });
  first.releaseSync();
  const held = await second;
  const { token } = held;
  await held.release();
  held.releaseSync();
  const holder = expect.objectContaining({ label: 'first', token: first.token }) as object;
  expect(taken()).toEqual([
    ['bucketlock:acquire', { ...id, token: first.token, label: 'first', waitedMs: 0 }],
    ['bucketlock:wait', { ...id, label: 'second', waitMs: any, holder }],
    ['bucketlock:release', { ...id, token: first.token }],
    ['bucketlock:acquire', { ...id, token, label: 'second', waitedMs: any }],
    ['bucketlock:release', { ...id, token }],
  ]);
  expect(await lock.tryAcquire({ signal: AbortSignal.abort() }).catch(() => null)).toBeNull();
  expect(taken()).toEqual([]);
});

test('an attempt that does not wait publishes nothing when it is busy', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  taken();
  expect(await lock.tryAcquire()).toBeNull();
  expect(lock.tryAcquireSync()).toBeNull();
  await expect(lock.acquire({ waitMs: 0 })).rejects.toMatchObject({ code: 'ERR_BUCKET_BUSY' });
  expect(taken()).toEqual([]);
  await held.release();
});

test.for([...faces, 'tryAcquire', 'tryAcquireSync'] as const)(
  '%s publishes the dead holder whose lockfile it removed',
  async (acquire) => {
    const bucket = temp.directory();
    const dead = await leaveDeadRecord(driver, bucket);
    const held = await new BucketLock(bucket)[acquire]();
    // On a busy machine the first attempt is given up and its reclaim told when it is over.
    await until('the reclaim is published', () => of('reclaim') !== undefined);
    expect(of('reclaim')).toEqual([
      'bucketlock:reclaim',
      {
        kind: 'bucket',
        path: bucket,
        holder: expect.objectContaining({
          state: 'stale',
          evidence: 'guard-free',
          process: 'gone',
          pid: dead.pid,
          token: dead.token,
          label: 'dead by now',
          since: new Date(dead.since),
        }) as object,
      },
    ]);
    expect(of('acquire')).toBeDefined();
    await held?.release();
  },
);

test('what an attempt has removed is published, though it was given up meanwhile', async () => {
  const bucket = temp.directory();
  const dead = await leaveDeadRecord(driver, bucket);
  const { ctimeMs } = statSync(lockfileOf(bucket));
  const controller = new AbortController();
  const acquiring = new BucketLock(bucket).acquire({ signal: controller.signal });
  // The loop does not turn, so the attempt cannot be answered before it is given up.
  const perhaps = { throwIfNoEntry: false } as const;
  spinUntil(() => (statSync(lockfileOf(bucket), perhaps)?.ctimeMs ?? ctimeMs) !== ctimeMs);
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(acquiring).rejects.toBe(reason);
  await until('the reclaim is published', () => of('reclaim') !== undefined);
  expect(of('reclaim')?.[1]).toMatchObject({ holder: { pid: dead.pid, token: dead.token } });
});

test.for(faces)('%s publishes a holder that died while it waited', async (acquire) => {
  const bucket = temp.directory();
  const dead = await leaveDeadRecord(driver, bucket);
  const holder = await driver.spawn();
  await holder.call('acquire', { bucket, label: 'to be killed' });
  const waiting = new BucketLock(bucket)[acquire]({
    waitMs: 20_000,
    // A kill needs no turn of this thread's loop to take effect.
    onWait: () => process.kill(holder.tracePid, 'SIGKILL'),
  });
  const held = await waiting;
  const reclaim = taken().find(([channel]) => channel === 'bucketlock:reclaim');
  expect(reclaim?.[1]).toMatchObject({ holder: { pid: holder.pid, label: 'to be killed' } });
  expect(dead.pid).not.toBe(holder.pid);
  await held.release();
});

test('a fresh lock reclaims nothing', async () => {
  const bucket = temp.directory();
  await (await new BucketLock(bucket).acquire()).release();
  await (await new BucketLock(bucket).acquire()).release();
  expect(taken().map(([channel]) => channel)).toEqual([
    'bucketlock:acquire',
    'bucketlock:release',
    'bucketlock:acquire',
    'bucketlock:release',
  ]);
});

test.for(['verify', 'verifySync', 'release', 'releaseSync'] as const)(
  'a loss that %s finds out is published once',
  async (find) => {
    const lock = new BucketLock(temp.directory());
    const held = await lock.acquire();
    taken();
    rmSync(lockfileOf(lock.path));
    expect(await held[find]()).toBe(false);
    await held.verify();
    await held.release();
    const { path } = lock;
    expect(taken()).toEqual([
      ['bucketlock:lost', { kind: 'bucket', path, token: held.token, reason: 'removed' }],
    ]);
  },
);

test('nothing is put together while nobody listens', () => {
  for (const name of CHANNELS) {
    expect(diagnostics[name].heard).toBe(diagnostics[name]);
    unsubscribe(`bucketlock:${name}`, note);
    expect(diagnostics[name].heard).toBeUndefined();
  }
});

/** Runs a program that has `BucketLock` and `bucket`, and answers what it printed where. */
function run(bucket: string, body: string, env: Record<string, string> = {}) {
  const script = `
    import { subscribe } from 'node:diagnostics_channel';
    const { BucketLock } = await import(${JSON.stringify(pathToFileURL(program.entry).href)});
    const bucket = ${JSON.stringify(bucket)};
    ${body}`;
  return spawnSync(program.node, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, ...env },
  });
}

test('a subscriber that throws breaks no lock; its error is an uncaught exception', () => {
  const { stdout, stderr, status } = run(
    temp.directory(),
    `const uncaught = [];
    process.on('uncaughtException', (error) => uncaught.push(error.message));
    for (const name of ['acquire', 'wait', 'release', 'lost'])
      subscribe('bucketlock:' + name, () => { throw new Error(name); });
    const lock = new BucketLock(bucket);
    const first = await lock.acquire();
    setTimeout(() => void first.release(), 30);
    const second = await lock.acquire();
    console.log(lock.inspectSync().token === second.token, second.releaseSync(), lock.inspectSync().state);
    await new Promise(setImmediate);
    console.log(uncaught.sort().join());`,
  );
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toEqual([
    'true true free',
    'acquire,acquire,release,release,wait',
    '',
  ]);
  expect(status).toBe(0);
});

const useALock = `
  const held = new BucketLock(bucket).acquireSync({ label: 'caf\\u009b2J' });
  await held.release();`;

test('NODE_DEBUG=bucketlock prints each message on a line of stderr', async () => {
  const bucket = temp.directory();
  const dead = await leaveDeadRecord(driver, bucket);
  writeRecord(bucket, { ...dead, label: 'bidi \u202e' });
  const { stdout, stderr } = run(bucket, useALock, { NODE_DEBUG: 'bucketlock' });
  expect(stdout).toBe('');
  const lines = stderr.trimEnd().split('\n');
  expect(lines.map((line) => /^BUCKETLOCK \d+: bucketlock:(\w+) \{/.exec(line)?.[1])).toEqual([
    'reclaim',
    'acquire',
    'release',
  ]);
  expect(lines[0]).toContain(`"token":"${dead.token}"`);
  expect(lines[0]).toContain('bidi \\u202e');
  expect(lines[1]).toContain('caf\\u009b2J');
});

test('NODE_DEBUG=bucketlock shows an endless wait as one', () => {
  const { stderr } = run(
    temp.directory(),
    `
    const lock = new BucketLock(bucket);
    const first = await lock.acquire();
    const second = lock.acquire({ waitMs: Infinity, onWait: () => void first.release() });
    await (await second).release();`,
    { NODE_DEBUG: 'bucketlock' },
  );
  expect(stderr).toContain('"waitMs":"Infinity"');
});

test('nothing is printed otherwise', () => {
  const { stdout, stderr } = run(temp.directory(), useALock, { NODE_DEBUG: '' });
  expect(stdout + stderr).toBe('');
});
