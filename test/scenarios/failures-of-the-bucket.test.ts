import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { BucketLock } from '../../lib/bucket-lock.js';
import { mountTmpfs, unmount } from '../helpers/mounts.js';
import { lockfileOf } from '../helpers/records.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

const temp = useTempDir();
const scripts = useScripts(temp);

const faces = ['acquire', 'acquireSync'] as const;

/** The lock can be taken and given back, and leaves nothing. */
async function expectUsable(lock: BucketLock): Promise<void> {
  for (const acquire of faces) {
    const held = await lock[acquire]({ waitMs: 0 });
    expect(existsSync(lock.lockPath)).toBe(true);
    expect(await held.release()).toBe(true);
  }
  expect(readdirSync(lock.path)).toEqual([]);
}

const removals: Record<string, (bucket: string) => void> = {
  removed: (bucket) => {
    rmSync(bucket, { recursive: true });
  },
  'removed and made again': (bucket) => {
    rmSync(bucket, { recursive: true });
    mkdirSync(bucket);
  },
  'removed and replaced by a file': (bucket) => {
    rmSync(bucket, { recursive: true });
    writeFileSync(bucket, '');
  },
};

test.for(Object.entries(removals))(
  'a bucket that is %s while held is a loss',
  async ([, remove]) => {
    const lock = new BucketLock(temp.directory());
    const lost = {
      name: 'LockLostError',
      code: 'ERR_LOCK_LOST',
      reason: 'removed',
      path: lock.path,
    };

    const held = await lock.acquire();
    remove(lock.path);
    expect(held.verifySync()).toBe(false);
    expect(held.signal.reason).toMatchObject(lost);
    expect(await held.release()).toBe(false);
    rmSync(lock.path, { recursive: true, force: true });

    await expect(
      lock.with(() => {
        remove(lock.path);
      }),
    ).rejects.toMatchObject(lost);
    rmSync(lock.path, { recursive: true, force: true });
    await expectUsable(lock);
  },
);

test.for(faces)(
  'a bucket that is renamed while held by %s stays held, and is released',
  async (acquire) => {
    const lock = new BucketLock(temp.directory());
    const held = await lock[acquire]();
    const renamed = `${lock.path}-renamed`;
    renameSync(lock.path, renamed);
    expect(await held.verify()).toBe(true);
    // The old name is free for a new bucket, the renamed one is not.
    await expectUsable(lock);
    expect(new BucketLock(renamed).tryAcquireSync()).toBeNull();
    expect(await held.release()).toBe(true);
    await expectUsable(new BucketLock(renamed));
  },
);

test.for(faces)(
  'a bucket that is mounted over while held by %s stays held, and is released',
  async (acquire, context) => {
    requireTool(context, 'tmpfs');
    const lock = new BucketLock(temp.directory());
    const held = await lock[acquire]();
    mountTmpfs(lock.path);
    expect(await held.verify()).toBe(true);
    // What the path names now is another bucket.
    await expectUsable(lock);
    expect(await held.release()).toBe(true);
    unmount(lock.path);
    await expectUsable(lock);
  },
);

/** Waits for a bucket that this process holds, by either face, and prints what comes of it. */
async function waiter(lock: BucketLock, acquire: (typeof faces)[number]) {
  const script = scripts.start(
    `import { existsSync } from 'node:fs';
    const lock = new BucketLock(bucket);
    const onWait = () => console.log('waiting');
    try {
      const held = await lock[acquire]({ waitMs: 3_600_000, onWait });
      console.log(JSON.stringify({ released: await held.release() }));
    } catch ({ name, code, reason, path }) {
      console.log(JSON.stringify({ name, code, reason, path }));
    }
    while (!existsSync(go)) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const acquire of ['acquire', 'acquireSync']) (await lock[acquire]({ waitMs: 0 })).releaseSync();
    console.log('usable');`,
    { values: { bucket: lock.path, acquire, go: `${lock.path}-go` } },
  );
  await script.says('waiting');
  return {
    async outcome(): Promise<unknown> {
      await script.says('}\n');
      return JSON.parse(script.output.split('\n')[1] ?? '');
    },
    /** Once the bucket is as it should be, the waiter's own lock works again. */
    async expectUsable(): Promise<void> {
      writeFileSync(`${lock.path}-go`, '');
      const { code, output } = await script.ended;
      expect(output).toContain('usable');
      expect(code).toBe(0);
      expect(readdirSync(lock.path)).toEqual([]);
    },
  };
}

const disappearances: Record<string, (bucket: string) => void> = {
  removed: (bucket) => {
    rmSync(bucket, { recursive: true });
  },
  renamed: (bucket) => {
    renameSync(bucket, `${bucket}-renamed`);
  },
};

const disappearing = Object.entries(disappearances).flatMap(([how, disappear]) =>
  faces.map((acquire) => ({ how, disappear, acquire })),
);

test('a bucket that is removed while several wait ends the wait of all, and is not made again', async () => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const waiting: Promise<unknown>[] = [];
  // The first one has seen the bucket by then.
  await new Promise<void>((resolve) => {
    const onWait = (): void => {
      resolve();
    };
    waiting.push(lock.acquire({ waitMs: 60_000, onWait }));
    waiting.push(lock.acquire({ waitMs: 60_000 }), lock.acquire({ waitMs: 60_000 }));
  });
  rmSync(lock.path, { recursive: true });
  for (const ended of await Promise.allSettled(waiting)) {
    expect(ended).toMatchObject({ reason: { reason: 'bucket_dir_disappeared' } });
  }
  expect(existsSync(lock.path)).toBe(false);
  expect(await held.release()).toBe(false);
  // Nobody waits any more: the next one makes it, as ever.
  await expectUsable(lock);
});

test.for(disappearing)(
  'a bucket that is $how while $acquire waits ends the wait',
  async ({ disappear, acquire }) => {
    const lock = new BucketLock(temp.directory());
    const held = await lock.acquire();
    const waiting = await waiter(lock, acquire);
    disappear(lock.path);
    expect(await waiting.outcome()).toEqual({
      name: 'BucketValidationError',
      code: 'ERR_BUCKET_INVALID',
      reason: 'bucket_dir_disappeared',
      path: lock.path,
    });
    // It is not made again by who waited.
    expect(existsSync(lock.path)).toBe(false);
    await held.release();
    await waiting.expectUsable();
  },
);

test.for(faces)('a bucket that becomes a file while %s waits ends the wait', async (acquire) => {
  const lock = new BucketLock(temp.directory());
  const held = await lock.acquire();
  const waiting = await waiter(lock, acquire);
  rmSync(lock.path, { recursive: true });
  writeFileSync(lock.path, '');
  const outcome = await waiting.outcome();
  expect(outcome).toMatchObject({ name: 'BucketValidationError', path: lock.path });
  // It may have looked between the two steps.
  const reasons = ['bucket_dir_not_directory', 'bucket_dir_disappeared'];
  expect(reasons).toContain((outcome as { reason: string }).reason);
  expect(await held.release()).toBe(false);
  rmSync(lock.path);
  await waiting.expectUsable();
});

test.for(faces)(
  'a bucket that is mounted over while %s waits is the one now mounted',
  async (acquire, context) => {
    requireTool(context, 'tmpfs');
    const lock = new BucketLock(temp.directory());
    const held = await lock.acquire();
    const waiting = await waiter(lock, acquire);
    mountTmpfs(lock.path);
    expect(await waiting.outcome()).toEqual({ released: true });
    expect(await held.verify()).toBe(true);
    await waiting.expectUsable();
    unmount(lock.path);
    expect(existsSync(lockfileOf(lock.path))).toBe(true);
    expect(await held.release()).toBe(true);
    await expectUsable(lock);
  },
);
