import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';

import { BucketLock } from '../../lib/bucket-lock.js';
import { isLockError } from '../../lib/error-guards.js';
import type { LockError } from '../../lib/errors.js';
import { mountTmpfs, remount } from '../helpers/mounts.js';
import { lockfileOf } from '../helpers/records.js';
import { useScripts } from '../helpers/script.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

const temp = useTempDir();
const scripts = useScripts(temp);

/** A bucket that cannot be locked for now. */
interface Place {
  readonly bucket: string;
  /** What the error says, besides being a `LockError`. */
  readonly code: string;
  readonly syscall: string;
  /** Where it says that it failed: the bucket itself, or its lockfile. */
  readonly path: string;
  /** A directory that is to stay as it is, where that can be told. */
  readonly watched?: string;
  /** Makes the bucket lockable. */
  readonly repair: () => void;
}

/** Writes until there is no space left, and answers what frees it. */
function fill(directory: string): () => void {
  const file = join(directory, 'filling');
  expect(() => {
    for (;;) writeFileSync(file, Buffer.alloc(4_096), { flag: 'a' });
  }).toThrow('ENOSPC');
  return () => {
    unlinkSync(file);
  };
}

const places: Record<string, (context: TestContext) => Place> = {
  'a file system without space': (context) => {
    requireTool(context, 'tmpfs');
    const mount = temp.directory('full');
    mountTmpfs(mount, 'size=64k');
    const bucket = join(mount, 'bucket');
    mkdirSync(bucket);
    const repair = fill(mount);
    return {
      bucket,
      code: 'ENOSPC',
      syscall: 'write',
      path: lockfileOf(bucket),
      watched: bucket,
      repair,
    };
  },
  'a file system without a place for one more file': (context) => {
    requireTool(context, 'tmpfs');
    const mount = temp.directory('full');
    mountTmpfs(mount, 'nr_inodes=4');
    const bucket = join(mount, 'bucket');
    mkdirSync(bucket);
    writeFileSync(join(mount, 'one'), '');
    writeFileSync(join(mount, 'two'), '');
    const repair = () => {
      unlinkSync(join(mount, 'two'));
    };
    return {
      bucket,
      code: 'ENOSPC',
      syscall: 'open',
      path: lockfileOf(bucket),
      watched: bucket,
      repair,
    };
  },
  'a missing bucket on a file system without a place for a directory': (context) => {
    requireTool(context, 'tmpfs');
    const mount = temp.directory('full');
    mountTmpfs(mount, 'nr_inodes=4');
    const names = ['one', 'two', 'three'].map((name) => join(mount, name));
    for (const name of names) writeFileSync(name, '');
    const bucket = join(mount, 'bucket');
    const repair = () => {
      for (const name of names) unlinkSync(name);
    };
    return { bucket, code: 'ENOSPC', syscall: 'mkdir', path: bucket, watched: mount, repair };
  },
  'a file system that is read-only': (context) => {
    requireTool(context, 'tmpfs');
    const mount = temp.directory('read-only');
    mountTmpfs(mount);
    const bucket = join(mount, 'bucket');
    mkdirSync(bucket);
    remount(mount, 'ro');
    const repair = () => {
      remount(mount, 'rw');
    };
    return {
      bucket,
      code: 'EROFS',
      syscall: 'open',
      path: lockfileOf(bucket),
      watched: bucket,
      repair,
    };
  },
  'a missing bucket on a file system that is read-only': (context) => {
    requireTool(context, 'tmpfs');
    const mount = temp.directory('read-only');
    mountTmpfs(mount, 'ro');
    const bucket = join(mount, 'bucket');
    const repair = () => {
      remount(mount, 'rw');
    };
    return { bucket, code: 'EROFS', syscall: 'mkdir', path: bucket, watched: mount, repair };
  },
  'a dead record on a file system that is read-only': (context) => {
    requireTool(context, 'tmpfs');
    const mount = temp.directory('read-only');
    mountTmpfs(mount);
    writeFileSync(lockfileOf(mount), '2147483647\n');
    remount(mount, 'ro');
    const repair = () => {
      remount(mount, 'rw');
    };
    return {
      bucket: mount,
      code: 'EROFS',
      syscall: 'unlink',
      path: lockfileOf(mount),
      watched: mount,
      repair,
    };
  },
  'a parent that is missing': () => {
    const parent = join(temp.directory(), 'parent');
    const bucket = join(parent, 'bucket');
    const repair = () => {
      mkdirSync(parent);
    };
    return {
      bucket,
      code: 'ENOENT',
      syscall: 'mkdir',
      path: bucket,
      watched: join(parent, '..'),
      repair,
    };
  },
  'a parent that is a link to itself': () => {
    const parent = join(temp.directory(), 'parent');
    symlinkSync('parent', parent);
    const bucket = join(parent, 'bucket');
    const repair = () => {
      unlinkSync(parent);
      mkdirSync(parent);
    };
    return {
      bucket,
      code: 'ELOOP',
      syscall: 'open',
      path: bucket,
      watched: join(parent, '..'),
      repair,
    };
  },
};

const faces: readonly [string, (lock: BucketLock) => Promise<unknown>][] = [
  // An hour to go: what cannot be cured by waiting fails at once.
  ['acquire', (lock) => lock.acquire({ waitMs: 3_600_000 })],
  // eslint-disable-next-line @typescript-eslint/require-await -- turns what it throws into a rejection
  ['acquireSync', async (lock) => lock.acquireSync({ waitMs: 3_600_000 })],
  ['tryAcquire', (lock) => lock.tryAcquire()],
  // eslint-disable-next-line @typescript-eslint/require-await -- as above
  ['tryAcquireSync', async (lock) => lock.tryAcquireSync()],
];

async function failureOf(attempt: Promise<unknown>): Promise<LockError> {
  const error: unknown = await attempt.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  );
  if (isLockError(error)) return error;
  throw error;
}

test.for(Object.entries(places))(
  '%s: a typed error at once, nothing left, usable afterwards',
  async ([, make], context) => {
    const { bucket, code, syscall, path, watched, repair } = make(context);
    const before = watched === undefined ? undefined : readdirSync(watched);
    const lock = new BucketLock(bucket);
    for (const [, acquire] of faces) {
      const error = await failureOf(acquire(lock));
      expect(error).toMatchObject({ name: 'LockError', code, syscall, path });
      expect(error.message).toContain(`Cannot acquire the bucket lock on '${bucket}': ${code}: `);
    }
    if (watched !== undefined) expect(readdirSync(watched)).toEqual(before);
    repair();
    for (const [, acquire] of faces) {
      const held = (await acquire(lock)) as Awaited<ReturnType<BucketLock['acquire']>>;
      expect(await held.release()).toBe(true);
    }
    expect(readdirSync(bucket)).not.toContain('.lock');
  },
);

test('a bucket below a file is a typed error, and can be locked once it is below a directory', async () => {
  const parent = join(temp.directory(), 'parent');
  writeFileSync(parent, '');
  const lock = new BucketLock(join(parent, 'bucket'));
  for (const [, acquire] of faces) {
    expect(await failureOf(acquire(lock))).toMatchObject({
      name: 'BucketValidationError',
      reason: 'bucket_dir_not_directory',
      path: lock.path,
    });
  }
  unlinkSync(parent);
  mkdirSync(parent);
  expect(await (await lock.acquire({ waitMs: 0 })).release()).toBe(true);
});

test('a name that is too long for its file system, or for any, is a typed error', async () => {
  const parent = temp.directory();
  const buckets = [join(parent, 'x'.repeat(256)), join(parent, ...Array<string>(2_048).fill('xx'))];
  for (const bucket of buckets) {
    for (const create of [true, false]) {
      const lock = new BucketLock(bucket, { create });
      for (const [, acquire] of faces) {
        const error = await failureOf(acquire(lock));
        expect(error).toMatchObject({ name: 'LockError', code: 'ENAMETOOLONG', path: bucket });
      }
      await expect(lock.inspect()).rejects.toMatchObject({ code: 'ENAMETOOLONG', path: bucket });
    }
  }
  expect(readdirSync(parent)).toEqual([]);
  await (await new BucketLock(join(parent, 'x'.repeat(255))).acquire()).release();
});

/** For a script: prints the error of each face, and after `go` is there whether the lock is usable. */
const REPORT = `
  const lock = new BucketLock(bucket);
  const waitMs = 3_600_000;
  const faces = [
    () => lock.acquire({ waitMs }),
    async () => lock.acquireSync({ waitMs }),
    () => lock.tryAcquire(),
    async () => lock.tryAcquireSync(),
  ];
  const report = async () => {
    const errors = [];
    for (const acquire of faces) {
      errors.push(await acquire().then(String, ({ name, code, path, syscall }) => ({ name, code, path, syscall })));
    }
    return JSON.stringify(errors);
  };
  const use = async () => {
    for (const acquire of faces) await (await acquire()).release();
    console.log('usable');
  };
  const { existsSync } = await import('node:fs');
  const repaired = async () => {
    while (!existsSync(go)) await new Promise((resolve) => setTimeout(resolve, 10));
  };`;

/** What the script has printed first, once `done` follows. */
async function reported(script: ReturnType<typeof scripts.start>): Promise<unknown> {
  await script.says('\n');
  return JSON.parse(script.output.split('\n')[0] ?? '');
}

const denials: Record<string, (bucket: string) => { code: string; path: string; syscall: string }> =
  {
    'may not write in the bucket': (bucket) => {
      mkdirSync(bucket, { mode: 0o755 });
      return { code: 'EACCES', path: lockfileOf(bucket), syscall: 'open' };
    },
    'may not search the bucket': (bucket) => {
      mkdirSync(bucket, { mode: 0o700 });
      return { code: 'EACCES', path: lockfileOf(bucket), syscall: 'open' };
    },
    'may not make the bucket': (bucket) => ({ code: 'EACCES', path: bucket, syscall: 'mkdir' }),
  };

test.for(Object.entries(denials))('a user who %s gets a typed error', async ([, deny], context) => {
  requireTool(context, 'root');
  const parent = temp.directory('parent');
  const bucket = join(parent, 'bucket');
  const expected = { name: 'LockError', ...deny(bucket) };
  const go = join(parent, 'go');
  const script = scripts.start(
    `${REPORT} console.log(await report()); await repaired(); await use();`,
    {
      values: { bucket, go },
      uid: 65534,
    },
  );
  expect(await reported(script)).toEqual(Array(faces.length).fill(expected));
  expect(existsSync(lockfileOf(bucket))).toBe(false);
  chmodSync(parent, 0o777);
  if (existsSync(bucket)) chmodSync(bucket, 0o777);
  writeFileSync(go, '');
  expect(await script.ended).toMatchObject({ code: 0 });
  expect(script.output).toContain('usable');
  expect(readdirSync(bucket)).toEqual([]);
});

test('a process without descriptors left gets a typed error, and the lock once it has one', async () => {
  const bucket = temp.directory();
  const { output } = await scripts.run(
    `${REPORT}
    import { closeSync, openSync } from 'node:fs';
    await use();
    const open = [];
    try {
      for (;;) open.push(openSync('/dev/null', 'r'));
    } catch (error) {
      console.log(error.code);
    }
    // With none, one and two to spare: the attempt breaks off at another place each time.
    const reports = [];
    for (let spare = 0; spare < 2; spare += 1) {
      reports.push(await report());
      closeSync(open.pop());
    }
    for (const descriptor of open) closeSync(descriptor);
    for (const report of reports) console.log(report);
    await use();`,
    {
      values: { bucket, go: '' },
      wrapper: ['sh', '-c', 'ulimit -n 100 && exec "$@"', 'sh'],
    },
  );
  const [first, code, none, one, last] = output.split('\n');
  expect([first, code, last]).toEqual(['usable', 'EMFILE', 'usable']);
  const expected = { name: 'LockError', code: 'EMFILE', syscall: 'open' };
  expect(JSON.parse(none ?? '')).toEqual(Array(faces.length).fill({ ...expected, path: bucket }));
  expect(JSON.parse(one ?? '')).toEqual(
    Array(faces.length).fill({ ...expected, path: lockfileOf(bucket) }),
  );
  expect(readdirSync(bucket)).toEqual([]);
});

const refusals = ['ENOLCK', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'] as const;

test.for(refusals)(
  'a file system that answers a kernel lock with %s is unsupported',
  async (code, context) => {
    requireTool(context, 'strace');
    const fresh = temp.directory();
    const dead = temp.directory();
    writeFileSync(lockfileOf(dead), '2147483647\n');
    const { output } = await scripts.run(
      `for (const bucket of buckets) {
      const lock = new BucketLock(bucket);
      const faces = [() => lock.acquire(), async () => lock.acquireSync(), () => lock.tryAcquire(), async () => lock.tryAcquireSync()];
      for (const acquire of faces) {
        const error = await acquire().catch((error) => error);
        console.log(bucketlock.isLockUnsupportedError(error), JSON.stringify(error), error.message);
      }
    }`,
      {
        values: { buckets: [fresh, dead] },
        wrapper: [
          'strace',
          '-f',
          '-qq',
          '-o',
          '/dev/null',
          '-e',
          'trace=flock',
          '-e',
          `inject=flock:error=${code}`,
        ],
      },
    );
    const lines = output.trim().split('\n');
    expect(lines).toHaveLength(8);
    for (const line of lines) {
      expect(line).toMatch(/^true \{/);
      expect(line).toContain('"code":"ERR_LOCK_UNSUPPORTED"');
      expect(line).toContain('"syscall":"flock"');
      expect(line).toMatch(
        /has no kernel file locks \((ENOLCK|EOPNOTSUPP|ENOTSUP|ENOSYS|EINVAL): .*, flock\)/,
      );
    }
    expect(readdirSync(fresh)).toEqual([]);
    expect(readdirSync(dead)).toEqual(['.lock']);
    for (const bucket of [fresh, dead]) {
      const lock = new BucketLock(bucket);
      expect(lock.acquireSync({ waitMs: 0 }).releaseSync()).toBe(true);
      rmSync(bucket, { recursive: true });
    }
  },
);
