import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { mustBlock } from '../helpers/must-block.js';
import { lockfileOf, readRecord, writeLockfile } from '../helpers/records.js';
import { taken, tokenOf } from '../helpers/taken.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { WINDOWS_NODE_VERSIONS, hasTool, requireTool, windowsNode } from '../helpers/tools.js';
import type { Tool } from '../helpers/tools.js';
import { useWine, windowsPath } from '../helpers/wine.js';

// The addon as it is cross-compiled for Windows, in a Windows build of Node.js, under Wine. Wine is no Windows: it has
// no POSIX semantics for deletion, so the classic way runs here, and its file systems are this machine's.
const tools: readonly Tool[] = ['wine', 'mingw', 'windows-node'];
const [oldest, newest] = WINDOWS_NODE_VERSIONS;

const temp = useTempDir();
const wine = useWine(
  () => temp.path,
  () => tools.every(hasTool),
);

beforeEach((context) => {
  for (const tool of tools) requireTool(context, tool);
});

/** An empty bucket as both sides spell it. */
function newBucket(): { here: string; bucket: string } {
  const here = temp.directory();
  return { here, bucket: windowsPath(here) };
}

describe(`Node.js ${oldest}`, () => {
  const driver = useDriver(() => wine.program(oldest));

  test('a held lock is busy for others, and the error names its holder', async () => {
    const [holder, other] = await driver.pool(2);
    const { here, bucket } = newBucket();
    const { hold, token } = await holder.call('acquire', { bucket, label: 'naïve 鎖' });
    expect(readdirSync(here)).toEqual(['.lock']);
    const record = readRecord(here);
    expect(record).toMatchObject({ pid: holder.pid, guarded: true, fs: 'ntfs', token });

    const busy = await other.callToFail('acquire', { bucket, waitMs: 0 });
    expect(busy.remote).toMatchObject({
      name: 'BucketBusyError',
      code: 'ERR_BUCKET_BUSY',
      holdingPid: holder.pid,
      path: bucket,
      report: { state: 'held', evidence: 'guard', process: 'alive', label: 'naïve 鎖', token },
    });
    expect(await other.call('tryAcquireSync', { bucket })).toBeNull();
    expect(await holder.call('verify', { hold })).toBe(true);
    expect(await holder.call('release', { hold })).toBe(true);
    expect(readdirSync(here)).toEqual([]);
  });

  test('a waiter gets the lock when it is released', async () => {
    const [holder, waiter] = await driver.pool(2);
    const { bucket } = newBucket();
    for (const acquire of ['acquire', 'acquireSync'] as const) {
      const { hold } = await holder.call('acquire', { bucket });
      const ends = await mustBlock(acquire, waiter.call(acquire, { bucket, waitMs: 60_000 }));
      expect(await holder.call('releaseSync', { hold })).toBe(true);
      const next = await ends();
      expect(await holder.call('tryAcquire', { bucket })).toBeNull();
      expect(await waiter.call('release', { hold: next.hold })).toBe(true);
    }
  });

  test('the next attempt after TerminateProcess succeeds', async () => {
    const [judge] = await driver.pool(1);
    const holder = await driver.spawn();
    const { here, bucket } = newBucket();
    await holder.call('acquire', { bucket });
    await judge.call('killProcess', { pid: holder.pid });
    await holder.ended;
    expect(readdirSync(here)).toEqual(['.lock']);
    expect(await judge.call('inspect', { bucket })).toMatchObject({
      state: 'stale',
      evidence: 'guard-free',
      pid: holder.pid,
      process: 'gone',
    });
    const { hold } = taken(await judge.call('tryAcquire', { bucket }));
    expect(await judge.call('release', { hold })).toBe(true);
    expect(readdirSync(here)).toEqual([]);
  });

  test('a waiter gets the lock of a holder that is terminated', async () => {
    const [judge, waiter] = await driver.pool(2);
    const holder = await driver.spawn();
    const { bucket } = newBucket();
    await holder.call('acquire', { bucket });
    const ends = await mustBlock('acquire', waiter.call('acquire', { bucket, waitMs: 60_000 }));
    await judge.call('killProcess', { pid: holder.pid });
    const { hold } = await ends();
    expect(await waiter.call('release', { hold })).toBe(true);
  });

  test('every waiter is served, after a release and after a death', async () => {
    const [holder, judge] = await driver.pool(2);
    const waiters = await driver.spawnMany(3);
    const { here, bucket } = newBucket();
    let last = { by: holder, ...(await holder.call('acquire', { bucket })) };
    const waits = new Map(
      waiters.map((waiter) => [
        waiter,
        waiter
          .call('acquire', { bucket, waitMs: 90_000 })
          .then((hold) => ({ by: waiter, ...hold })),
      ]),
    );
    while (waits.size > 0) {
      const ends = await mustBlock('acquire', Promise.race(waits.values()));
      // The first one served dies.
      if (waits.size === 2) await judge.call('killProcess', { pid: last.by.pid });
      else expect(await last.by.call('release', { hold: last.hold })).toBe(true);
      last = await ends();
      waits.delete(last.by);
    }
    expect(await last.by.call('release', { hold: last.hold })).toBe(true);
    expect(readdirSync(here)).toEqual([]);
  });

  test.for(['deadline', 'abort'] as const)(
    'a waiter that gives up by %s leaves the others their turn',
    async (way) => {
      const [holder, fickle, patient] = await driver.pool(3);
      const { here, bucket } = newBucket();
      const { hold } = await holder.call('acquire', { bucket });
      const limit = way === 'deadline' ? { waitMs: 1_000 } : {};
      await fickle.call('startWait', { bucket, wait: way, ...limit });
      const ends = await mustBlock('acquire', patient.call('acquire', { bucket, waitMs: 60_000 }));
      if (way === 'abort') await fickle.call('abortWait', { wait: way });
      const { remote } = await fickle.callToFail('endWait', { wait: way });
      expect(remote).toMatchObject(
        way === 'deadline'
          ? { name: 'BucketBusyError', holdingPid: holder.pid }
          : { name: 'Error', message: 'abort is aborted' },
      );
      expect(await holder.call('release', { hold })).toBe(true);
      const next = await ends();
      expect(await patient.call('release', { hold: next.hold })).toBe(true);
      expect(readdirSync(here)).toEqual([]);
    },
  );

  test('a process that ends without releasing leaves nothing behind', async () => {
    const holder = await driver.spawn();
    const { here, bucket } = newBucket();
    await holder.call('acquire', { bucket });
    holder.call('exit', {}).catch(() => undefined);
    await holder.ended;
    expect(readdirSync(here)).toEqual([]);
  });

  test.for(['release', 'releaseSync'] as const)(
    '%s waits for a reader that does not share deletion',
    async (release) => {
      const [holder, other] = await driver.pool(2);
      const { here, bucket } = newBucket();
      const { hold } = await holder.call('acquire', { bucket });
      const letGo = await wine.blockDeletion(lockfileOf(here), temp.directory('reader'));
      const ends = await mustBlock(release, holder.call(release, { hold }));
      expect(await other.call('tryAcquire', { bucket })).toBeNull();
      letGo();
      expect(await ends()).toBe(true);
      expect(readdirSync(here)).toEqual([]);
      expect(await other.call('tryAcquire', { bucket })).not.toBeNull();
    },
  );

  test.for(['release', 'releaseSync'] as const)(
    '%s gives up after releaseRetryMs, and the lock stays held until a later one',
    async (release) => {
      const [holder, other] = await driver.pool(2);
      const { here, bucket } = newBucket();
      const { hold } = await holder.call('acquire', {
        bucket,
        lockOptions: { releaseRetryMs: 50 },
      });
      const letGo = await wine.blockDeletion(lockfileOf(here), temp.directory('reader'));
      const { remote } = await holder.callToFail(release, { hold });
      expect(remote).toMatchObject({ code: 'ERR_LOCK_RELEASE_BLOCKED', path: bucket });
      expect(await holder.call('verify', { hold })).toBe(true);
      expect(await other.call('tryAcquire', { bucket })).toBeNull();
      letGo();
      // Each call gives up again for as long as the reader is there.
      await expect
        .poll(() => holder.call(release, { hold }).catch(() => 'blocked'), { timeout: 30_000 })
        .toBe(true);
      expect(readdirSync(here)).toEqual([]);
    },
  );

  test('a PID-only record is held by the living and free after the dead', async () => {
    const [holder, other] = await driver.pool(2);
    const dead = await driver.spawn();
    await dead.kill();
    const { here, bucket } = newBucket();
    writeLockfile(here, `${holder.pid}\n`);
    expect(await other.call('inspect', { bucket })).toMatchObject({
      state: 'held',
      evidence: 'process-alive',
      pid: holder.pid,
    });
    expect(await other.call('tryAcquire', { bucket })).toBeNull();
    // No process has an odd PID, though Windows opens the one that it rounds to.
    for (const pid of [dead.pid, holder.pid + 1]) {
      writeLockfile(here, `${pid}\r\n`);
      expect(await other.call('inspect', { bucket })).toMatchObject({
        state: 'stale',
        evidence: 'process-gone',
        process: 'gone',
      });
      const { hold } = taken(await other.call('tryAcquire', { bucket }));
      expect(await other.call('release', { hold })).toBe(true);
    }
  });

  test('a PID-only lock is as good, and its record is the PID alone', async () => {
    const [holder, other] = await driver.pool(2);
    const { here, bucket } = newBucket();
    const lockOptions = { recordFormat: 'pid' };
    const { hold, token } = await holder.call('acquire', { bucket, lockOptions });
    expect(readFileSync(lockfileOf(here), 'latin1')).toBe(`${holder.pid} \n`);
    expect(await other.call('inspect', { bucket })).toMatchObject({ evidence: 'guard', token });
    expect(await holder.call('release', { hold })).toBe(true);
    expect(readdirSync(here)).toEqual([]);
  });

  test('breakLock takes what no guard protects, by its token', async () => {
    const [holder, breaker] = await driver.pool(2);
    const { here, bucket } = newBucket();
    const { hold, token } = await holder.call('acquire', { bucket });
    expect(await breaker.call('breakLock', { bucket, token })).toBe(false);
    expect(await holder.call('release', { hold })).toBe(true);
    expect(await breaker.call('breakLock', { bucket, token })).toBe(true);

    writeLockfile(here, `${holder.pid}\n`);
    const seen = tokenOf(await breaker.call('inspect', { bucket }));
    expect(await breaker.call('breakLock', { bucket, token })).toBe(false);
    expect(existsSync(lockfileOf(here))).toBe(true);
    expect(await breaker.call('breakLock', { bucket, token: seen })).toBe(true);
    expect(readdirSync(here)).toEqual([]);
  });

  test('release leaves what came after a lockfile that was removed by hand', async () => {
    const [first, second] = await driver.pool(2);
    const { here, bucket } = newBucket();
    const { hold } = await first.call('acquire', { bucket });
    rmSync(lockfileOf(here));
    const other = await second.call('acquire', { bucket, waitMs: 0 });
    expect(await first.call('verify', { hold })).toBe(false);
    expect(await first.call('release', { hold })).toBe(false);
    expect(await second.call('verify', { hold: other.hold })).toBe(true);
    expect(await second.call('release', { hold: other.hold })).toBe(true);
  });

  test('contenders hold the lock one at a time', async () => {
    const contenders = await driver.pool(3);
    const { bucket } = newBucket();
    const scratch = temp.directory('counted');
    const turns = 15;
    await driver.barrier(contenders, 'count', {
      bucket,
      waitMs: 60_000,
      counter: windowsPath(join(scratch, 'counter')),
      sentinel: windowsPath(join(scratch, 'sentinel')),
      turns,
    });
    const lines = readFileSync(join(scratch, 'counter'), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => Number(line.split(' ')[0]))).toEqual(
      Array.from({ length: turns * contenders.length }, (_, index) => index + 1),
    );
  });

  test('paths may be longer than 260 characters, in any script', async () => {
    const [holder] = await driver.pool(1);
    const folder = join(temp.directory('long'), 'x'.repeat(200), 'ü'.repeat(100));
    mkdirSync(folder, { recursive: true });
    const bucket = windowsPath(join(folder, '桶'));
    const { hold } = await holder.call('acquire', { bucket });
    expect(readdirSync(join(folder, '桶'))).toEqual(['.lock']);
    expect(await holder.call('release', { hold })).toBe(true);
  });

  test('failures come with the codes that Node.js gives on Windows', async () => {
    const [holder] = await driver.pool(1);
    const { here, bucket } = newBucket();
    const missing = await holder.callToFail('acquire', { bucket: `${bucket}\\no\\such` });
    expect(missing.remote).toMatchObject({ code: 'ENOENT', syscall: 'mkdir', errno: -4058 });
    mkdirSync(lockfileOf(here));
    const taken = await holder.callToFail('acquire', { bucket });
    expect(taken.remote).toMatchObject({ reason: 'lockfile_not_regular' });
    const file = await holder.callToFail('acquire', { bucket: windowsPath(import.meta.filename) });
    expect(file.remote).toMatchObject({ reason: 'bucket_dir_not_directory' });
  });
});

describe('an executable of another name', () => {
  // As Electron and packaged applications are.
  const renamed = (): string => join(temp.path, 'application.exe');
  const driver = useDriver(() => {
    if (!existsSync(renamed())) copyFileSync(windowsNode(oldest), renamed());
    return wine.program(oldest, renamed());
  });

  test('loads the addon', async () => {
    const holder = await driver.spawn();
    const { here, bucket } = newBucket();
    const { hold } = await holder.call('acquire', { bucket });
    expect(await holder.call('release', { hold })).toBe(true);
    expect(readdirSync(here)).toEqual([]);
  });
});

describe(`Node.js ${newest}`, () => {
  const driver = useDriver(() => wine.program(newest));

  test('acquires, is busy, releases', async () => {
    const [holder, other] = await driver.spawnMany(2);
    const { here, bucket } = newBucket();
    const { hold } = await holder.call('acquire', { bucket });
    const busy = await other.callToFail('acquireSync', { bucket, waitMs: 0 });
    expect(busy.remote).toMatchObject({ holdingPid: holder.pid });
    expect(await holder.call('release', { hold })).toBe(true);
    expect(readdirSync(here)).toEqual([]);
  });
});
