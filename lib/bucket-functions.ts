import { BucketLock } from './bucket-lock.js';
import { lockfileIn, realDirectory, realDirectorySync, resolveBucket } from './bucket-path.js';
import type { LockReport, SyncHeldLock } from './lock.js';
import { loadAddon } from './native.js';
import type { NativeBreak } from './native.js';
import {
  DEFAULT_BUCKET_LOCK_SETTINGS,
  readBreakOptions,
  readBucketLockOptions,
  readInspectOptions,
} from './options.js';
import type { BreakLockOptions, BucketLockOptions, InspectLockOptions } from './options.js';
import { errorOf } from './outcome-errors.js';
import { sharedInThread } from './thread-shared.js';

/** What this thread took by `acquireLock`, oldest first. */
interface Taken {
  readonly directory: string;
  readonly realPath: string;
  readonly held: SyncHeldLock;
}

/**
 * Takes the lock of a bucket; without `waitMs` it makes one attempt. Give it back with
 * `releaseLock(bucket)`, or by the handle it resolves to.
 *
 * @throws BucketBusyError if somebody else holds it.
 * @example
 * ```ts
 * await acquireLock('/srv/orders', { waitMs: 2_000 });
 * try {
 *   await importOrders();
 * } finally {
 *   await releaseLock('/srv/orders');
 * }
 * ```
 */
export async function acquireLock(
  bucket: string | URL,
  options?: BucketLockOptions,
): Promise<SyncHeldLock> {
  const lock = impatientLock(bucket, options);
  const held = await lock.acquire();
  note({ directory: lock.path, realPath: await realDirectory(lock.path), held });
  return held;
}

/**
 * `acquireLock` on the calling thread.
 *
 * @example
 * ```ts
 * acquireLockSync('/srv/orders');
 * try {
 *   importOrdersSync();
 * } finally {
 *   releaseLockSync('/srv/orders');
 * }
 * ```
 */
export function acquireLockSync(bucket: string | URL, options?: BucketLockOptions): SyncHeldLock {
  const lock = impatientLock(bucket, options);
  const held = lock.acquireSync();
  note({ directory: lock.path, realPath: realDirectorySync(lock.path), held });
  return held;
}

/**
 * Releases what this thread took by `acquireLock`, whichever spelling of the path it used then.
 * Resolves `false` if that is nothing, or if the lock was no longer ours to release.
 *
 * @throws LockError if the system refused; it may then be called again.
 * @example
 * ```ts
 * const wasOurs = await releaseLock('/srv/orders');
 * ```
 */
export async function releaseLock(bucket: string | URL): Promise<boolean> {
  const { directory } = resolveBucket(bucket);
  const taken = find(directory, await realDirectory(directory));
  return taken === undefined ? false : taken.held.release();
}

/**
 * `releaseLock` on the calling thread.
 *
 * @example
 * ```ts
 * const wasOurs = releaseLockSync('/srv/orders');
 * ```
 */
export function releaseLockSync(bucket: string | URL): boolean {
  const { directory } = resolveBucket(bucket);
  const taken = find(directory, realDirectorySync(directory));
  return taken === undefined ? false : taken.held.releaseSync();
}

/**
 * Where the lockfile of a bucket is while somebody holds its lock.
 *
 * @example
 * ```ts
 * lockPath('/srv/orders'); // '/srv/orders/.lock'
 * ```
 */
export function lockPath(bucket: string | URL): string {
  return lockfileIn(resolveBucket(bucket).directory);
}

/**
 * Runs `body` under the lock of a bucket; without `waitMs` it makes one attempt to get it. See
 * `Lock.with` for whose error wins.
 *
 * @example
 * ```ts
 * const count = await withLock('/srv/orders', () => importOrders(), { waitMs: 2_000 });
 * ```
 */
export async function withLock<T>(
  bucket: string | URL,
  body: (held: SyncHeldLock) => T | Promise<T>,
  options?: BucketLockOptions,
): Promise<T> {
  return impatientLock(bucket, options).with(body);
}

/**
 * `withLock` on the calling thread. `body` must not return a promise.
 *
 * @example
 * ```ts
 * const count = withLockSync('/srv/orders', () => importOrdersSync());
 * ```
 */
export function withLockSync<T>(
  bucket: string | URL,
  body: (held: SyncHeldLock) => T,
  options?: BucketLockOptions,
): T {
  return impatientLock(bucket, options).withSync(body);
}

/**
 * What is known of the lock of a bucket; a bucket that is not there is free.
 *
 * @example
 * ```ts
 * const { state, pid, since } = await inspectLock('/srv/orders');
 * ```
 */
export async function inspectLock(
  bucket: string | URL,
  options?: InspectLockOptions,
): Promise<LockReport> {
  return new BucketLock(bucket, readInspectOptions(options)).inspect();
}

/**
 * `inspectLock` on the calling thread.
 *
 * @example
 * ```ts
 * const { state, pid, since } = inspectLockSync('/srv/orders');
 * ```
 */
export function inspectLockSync(bucket: string | URL, options?: InspectLockOptions): LockReport {
  return new BucketLock(bucket, readInspectOptions(options)).inspectSync();
}

/**
 * Removes the record that a report was about, for a holder which is known to be gone but cannot be
 * proven so from here. Make sure of that first: a kernel lock that is held is never broken, but where
 * the evidence is `foreign` it may not be seen; nor then a full record whose very process is seen to
 * be alive, but that is seen from its own PID namespace alone.
 *
 * Resolves `true` when that very record is gone, removed by this call or before it, so of a free
 * lock as well; and `false` when another one is there, or it is not to be broken.
 *
 * @throws BucketValidationError, LockUnsupportedError, LockError as an acquire does.
 * @example
 * ```ts
 * const report = await inspectLock('/mnt/share/orders');
 * // 'gone' is said of processes of this machine alone; of others, ask whoever runs them.
 * if (report.process === 'gone' && report.token !== undefined) {
 *   await breakLock('/mnt/share/orders', { token: report.token });
 * }
 * ```
 */
export async function breakLock(bucket: string | URL, options: BreakLockOptions): Promise<boolean> {
  const { directory } = resolveBucket(bucket);
  const { token, trustKernelLocks } = readBreakOptions(options);
  return isGone(await loadAddon().breakLock(directory, token, trustKernelLocks), directory);
}

/**
 * `breakLock` on the calling thread.
 *
 * @example
 * ```ts
 * const { process, token } = inspectLockSync('/mnt/share/orders');
 * if (process === 'gone' && token !== undefined) breakLockSync('/mnt/share/orders', { token });
 * ```
 */
export function breakLockSync(bucket: string | URL, options: BreakLockOptions): boolean {
  const { directory } = resolveBucket(bucket);
  const { token, trustKernelLocks } = readBreakOptions(options);
  return isGone(loadAddon().breakLockSync(directory, token, trustKernelLocks), directory);
}

function isGone(broken: NativeBreak, directory: string): boolean {
  if (broken.outcome === 'gone') return true;
  if (broken.outcome === 'kept') return false;
  throw errorOf(broken, directory, 'break');
}

/** A lock with the source systems' default of no wait. */
function impatientLock(bucket: string | URL, options: BucketLockOptions | undefined): BucketLock {
  return new BucketLock(
    bucket,
    readBucketLockOptions(options, { ...DEFAULT_BUCKET_LOCK_SETTINGS, waitMs: 0 }),
  );
}

const allTaken = sharedInThread<Taken[]>('taken.v1', () => []);

function note(taken: Taken): void {
  const all = allTaken();
  // Those that were released by their handles, or found lost, are of no more use to anybody.
  all.splice(0, all.length, ...all.filter(isHeld), taken);
}

/** The newest one: after a bucket was renamed and made anew, that is the one on the path now. */
function find(directory: string, realPath: string): Taken | undefined {
  return [...allTaken()]
    .reverse()
    .find(
      (taken) => isHeld(taken) && (taken.realPath === realPath || taken.directory === directory),
    );
}

function isHeld({ held }: Taken): boolean {
  return !held.released;
}
