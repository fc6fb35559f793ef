import { BucketAcquirer } from './bucket-acquirer.js';
import { lockfileIn, resolveBucket } from './bucket-path.js';
import type { HeldBucket } from './held-bucket.js';
import type { AcquireOptions, LockReport, SyncHeldLock, SyncLock } from './lock.js';
import { toLockReport } from './lock-report.js';
import { loadAddon } from './native.js';
import type { NativeInspection } from './native.js';
import { readAcquireOptions, readBucketLockOptions } from './options.js';
import type { AcquireSettings, BucketLockOptions, BucketLockSettings } from './options.js';
import { errorOf } from './outcome-errors.js';
import { refuseNested, refuseNestedSync, runWithin } from './reentry.js';
import { attachReleaseError } from './release-error.js';
import { checkBody, checkSyncResult } from './with-body.js';

/**
 * Excludes every process on the machine, and every thread in them, from one directory: the bucket.
 * The lock is a lockfile in it, which says who holds it. On a local file system a holder's death,
 * however it dies, frees it at once. It is not re-entrant. Who waits stands in line: first come, first
 * served among the requests of one process for one spelling of the path.
 *
 * @example
 * ```ts
 * const lock = new BucketLock('/srv/orders');
 * const held = await lock.acquire({ waitMs: 2_000, label: 'nightly import' });
 * try {
 *   await importOrders();
 * } finally {
 *   await held.release();
 * }
 * ```
 */
export class BucketLock implements SyncLock {
  /** Absolute path of the bucket directory, resolved when the lock object was made. */
  readonly path: string;
  /** The last component of `path`. */
  readonly bucketId: string;
  /** Where the lockfile is while somebody holds the lock. */
  readonly lockPath: string;
  readonly #settings: BucketLockSettings;
  readonly #acquirer: BucketAcquirer;

  /**
   * Touches nothing on disk and does not load the addon.
   *
   * @throws TypeError, RangeError for unusable arguments; BucketValidationError with reason
   * `bucket_id_invalid` for a path that can name no bucket.
   */
  constructor(bucket: string | URL, options?: BucketLockOptions) {
    const { directory, bucketId } = resolveBucket(bucket);
    this.path = directory;
    this.bucketId = bucketId;
    this.lockPath = lockfileIn(directory);
    this.#settings = readBucketLockOptions(options);
    this.#acquirer = new BucketAcquirer(directory, bucketId, this.#settings);
  }

  /** @throws BucketBusyError after `waitMs`; see `Lock.acquire`. */
  async acquire(options?: AcquireOptions): Promise<SyncHeldLock> {
    return await this.#acquirer.acquire(this.#read(options));
  }

  async tryAcquire(options?: AcquireOptions): Promise<SyncHeldLock | null> {
    return await this.#acquirer.tryAcquire(this.#read(options));
  }

  async with<T>(
    body: (held: SyncHeldLock) => T | Promise<T>,
    options?: AcquireOptions,
  ): Promise<T> {
    checkBody(body);
    const settings = this.#read(options);
    if (!settings.detached) await refuseNested(this.path);
    const held = await this.#acquirer.acquire(settings);
    let result: T;
    try {
      result = await this.#runWithin(held, body);
    } catch (error) {
      await held.release().catch((releaseError: unknown) => {
        attachReleaseError(error, releaseError);
      });
      if (held.loss !== undefined) attachReleaseError(error, held.loss);
      throw error;
    }
    await held.release();
    if (held.loss !== undefined) throw held.loss;
    return result;
  }

  /** Resolves what is known of the lock; that of a bucket which is not there is free. */
  async inspect(): Promise<LockReport> {
    const { trustKernelLocks } = this.#settings;
    return this.#report(await loadAddon().inspect(this.path, trustKernelLocks));
  }

  /** @throws BucketBusyError after `waitMs`; see `SyncLock.acquireSync`. */
  acquireSync(options?: AcquireOptions): SyncHeldLock {
    return this.#acquirer.acquireSync(this.#read(options));
  }

  tryAcquireSync(options?: AcquireOptions): SyncHeldLock | null {
    return this.#acquirer.tryAcquireSync(this.#read(options));
  }

  withSync<T>(body: (held: SyncHeldLock) => T, options?: AcquireOptions): T {
    checkBody(body);
    const settings = this.#read(options);
    if (!settings.detached) refuseNestedSync(this.path);
    const held = this.#acquirer.acquireSync(settings);
    let result: T;
    try {
      result = this.#runWithin(held, body);
      checkSyncResult(result);
    } catch (error) {
      try {
        held.releaseSync();
      } catch (releaseError) {
        attachReleaseError(error, releaseError);
      }
      if (held.loss !== undefined) attachReleaseError(error, held.loss);
      throw error;
    }
    held.releaseSync();
    if (held.loss !== undefined) throw held.loss;
    return result;
  }

  inspectSync(): LockReport {
    const { trustKernelLocks } = this.#settings;
    return this.#report(loadAddon().inspectSync(this.path, trustKernelLocks));
  }

  #report(inspection: NativeInspection): LockReport {
    if (inspection.outcome === 'report') return toLockReport(inspection.report);
    throw errorOf(inspection, this.path, 'inspect');
  }

  #runWithin<R>(held: HeldBucket, body: (held: SyncHeldLock) => R): R {
    const isLive = (): boolean => !held.released && held.loss === undefined;
    return runWithin(this.path, isLive, () => body(held));
  }

  #read(options: AcquireOptions | undefined): AcquireSettings {
    return readAcquireOptions(options, this.#settings);
  }
}
