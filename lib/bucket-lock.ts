import { lockfileIn, resolveBucket } from './bucket-path.js';
import { attempt, attemptSync, beginAttempt, waitInLine, waitInLineSync } from './bucket-wait.js';
import type { BucketRequest } from './bucket-wait.js';
import { Deadline } from './deadline.js';
import { diagnostics } from './diagnostics.js';
import { Engagement, exitReleaserOf } from './engagement.js';
import { BucketBusyError } from './errors.js';
import { exitSignals } from './exit-signals.js';
import { HeldBucket } from './held-bucket.js';
import type { AcquireOptions, LockReport, SyncHeldLock, SyncLock } from './lock.js';
import { toLockReport } from './lock-report.js';
import { loadAddon } from './native.js';
import type {
  NativeAddon,
  NativeAttempt,
  NativeBucketSpec,
  NativeBusy,
  NativeInspection,
  NativeReport,
} from './native.js';
import { readAcquireOptions, readBucketLockOptions } from './options.js';
import type { AcquireSettings, BucketLockOptions, BucketLockSettings } from './options.js';
import { errorOf } from './outcome-errors.js';
import { POOL_PATIENCE_MS, losePatience } from './pool-patience.js';
import { refuseNested, refuseNestedSync, refuseOwnWait, runWithin } from './reentry.js';
import { attachReleaseError } from './release-error.js';
import { checkBody, checkSyncResult } from './with-body.js';

/**
 * Excludes every process on the machine, and every thread in them, from one directory: the bucket.
 * The lock is a lockfile in it, which says who holds it. On a local file system a holder's death,
 * however it dies, frees it at once. It is not re-entrant.
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
  /** Made when first needed, for it takes the addon. */
  #spec: NativeBucketSpec | undefined;

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
  }

  /** @throws BucketBusyError after `waitMs`; see `Lock.acquire`. */
  async acquire(options?: AcquireOptions): Promise<SyncHeldLock> {
    return await this.#acquire(this.#read(options));
  }

  async tryAcquire(options?: AcquireOptions): Promise<SyncHeldLock | null> {
    const settings = this.#read(options);
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const engagement = new Engagement(addon, this.path);
    try {
      const request = this.#request(addon, settings, false);
      const outcome = await attempt(addon, request, beginAttempt(addon, request), settings.signal);
      if (outcome !== undefined && outcome.outcome !== 'busy') {
        return this.#take(outcome, settings, engagement);
      }
    } catch (error) {
      engagement.end();
      throw error;
    }
    engagement.end();
    return null;
  }

  async with<T>(
    body: (held: SyncHeldLock) => T | Promise<T>,
    options?: AcquireOptions,
  ): Promise<T> {
    checkBody(body);
    const settings = this.#read(options);
    if (!settings.detached) await refuseNested(this.path);
    const held = await this.#acquire(settings);
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
    return this.#acquireSync(this.#read(options));
  }

  tryAcquireSync(options?: AcquireOptions): SyncHeldLock | null {
    const settings = this.#read(options);
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const outcome = attemptSync(addon, this.#request(addon, settings, false));
    return outcome.outcome === 'busy' ? null : this.#take(outcome, settings);
  }

  withSync<T>(body: (held: SyncHeldLock) => T, options?: AcquireOptions): T {
    checkBody(body);
    const settings = this.#read(options);
    if (!settings.detached) refuseNestedSync(this.path);
    const held = this.#acquireSync(settings);
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

  async #acquire(settings: AcquireSettings): Promise<HeldBucket> {
    const deadline = new Deadline(settings.waitMs);
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const request = this.#request(addon, settings, settings.waitMs > 0);
    // Without a gap from the first attempt until the hold ends.
    const engagement = new Engagement(addon, this.path);
    const begun = beginAttempt(addon, request);
    const wait = { isOver: false };
    try {
      const patienceMs = patienceWithin(settings.waitMs);
      const first = await attempt(addon, request, begun, settings.signal, patienceMs);
      if (first !== undefined && first.outcome !== 'busy') {
        return this.#take(first, settings, engagement);
      }
      const isSeen = first !== undefined && !isBlank(first);
      if (isSeen) this.#expectWait(first.report, settings, deadline);
      settings.signal?.throwIfAborted();
      const telling = isSeen ? undefined : this.#tellOfWait(settings, deadline, wait);
      const before = { kept: begun.request, attempted: first !== undefined, telling };
      const outcome = await waitInLine(addon, request, before, deadline, settings.signal);
      wait.isOver = true;
      const seen = isBlank(outcome) ? await this.#lookInTime(addon) : undefined;
      return this.#take(withHolder(outcome, seen, first), settings, engagement, deadline);
    } catch (error) {
      wait.isOver = true;
      addon.leaveLine(begun.request);
      engagement.end();
      throw error;
    }
  }

  /** For a wait without a first attempt: says who holds the lock as soon as the pool has looked. */
  async #tellOfWait(
    settings: AcquireSettings,
    deadline: Deadline,
    wait: { readonly isOver: boolean },
  ): Promise<void> {
    if (!isTold(settings)) return;
    const look = await loadAddon().inspect(this.path, this.#settings.trustKernelLocks);
    // Whatever keeps us from looking will be told by the wait itself.
    if (!wait.isOver && look.outcome === 'report') this.#tell(look.report, settings, deadline);
  }

  #lookSync(addon: NativeAddon): NativeReport | undefined {
    const look = addon.inspectSync(this.path, this.#settings.trustKernelLocks);
    return look.outcome === 'report' ? look.report : undefined;
  }

  /** Who holds the lock now; undefined if the pool does not come to look. */
  #lookInTime(addon: NativeAddon): Promise<NativeReport | undefined> {
    return new Promise((resolve, reject) => {
      const keepPatience = losePatience(POOL_PATIENCE_MS, () => {
        resolve(undefined);
      });
      addon.inspect(this.path, this.#settings.trustKernelLocks).then((look) => {
        keepPatience();
        resolve(look.outcome === 'report' ? look.report : undefined);
      }, reject);
    });
  }

  #acquireSync(settings: AcquireSettings): HeldBucket {
    const deadline = new Deadline(settings.waitMs);
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const request = this.#request(addon, settings, settings.waitMs > 0);
    const first = attemptSync(addon, request);
    if (first.outcome !== 'busy') return this.#take(first, settings);
    if (settings.waitMs > 0 && !settings.detached) refuseOwnWait(this.path);
    if (!isBlank(first)) this.#expectWait(first.report, settings, deadline);
    else if (isTold(settings))
      this.#tell(this.#lookSync(addon) ?? first.report, settings, deadline);
    const outcome = waitInLineSync(addon, request, deadline, settings.signal);
    const seen = isBlank(outcome) ? this.#lookSync(addon) : undefined;
    return this.#take(withHolder(outcome, seen, first), settings, undefined, deadline);
  }

  /** Between the first attempt and the wait: throws if there is to be no wait after all. */
  #expectWait(holder: NativeReport, settings: AcquireSettings, deadline: Deadline): void {
    if (settings.waitMs === 0) throw this.#busy(holder, 0);
    this.#tell(holder, settings, deadline);
    settings.signal?.throwIfAborted();
    if (deadline.remainingMs <= 0) throw this.#busy(holder, deadline.elapsedMs);
  }

  #tell(holder: NativeReport, settings: AcquireSettings, deadline: Deadline): void {
    diagnostics.wait.heard?.publish({
      kind: 'bucket',
      path: this.path,
      ...labelOf(settings),
      holder: toLockReport(holder),
      waitMs: deadline.remainingMs,
    });
    settings.onWait?.(toLockReport(holder));
  }

  /** The hold, which ends the engagement from now on; throws for every outcome but a lock. */
  #take(
    outcome: NativeAttempt,
    settings: AcquireSettings,
    engaged?: Engagement,
    deadline?: Deadline,
  ): HeldBucket {
    if (outcome.outcome === 'busy') throw this.#busy(outcome.report, deadline?.elapsedMs ?? 0);
    if (outcome.outcome !== 'acquired') throw errorOf(outcome, this.path, 'acquire');
    const addon = loadAddon();
    const engagement = engaged ?? new Engagement(addon, this.path);
    // Programs that know of PIDs only do not see that the kernel lock is free.
    const isPidOnly = this.#settings.recordFormat === 'pid';
    const unlisten = isPidOnly ? exitSignals().retain(exitReleaserOf(addon)) : undefined;
    const held = new HeldBucket(addon, this.path, outcome, {
      releaseRetryMs: this.#settings.releaseRetryMs,
      onLost: engagement.forget,
      onReleased: () => {
        engagement.end();
        unlisten?.();
      },
    });
    diagnostics.acquire.heard?.publish({
      kind: 'bucket',
      path: this.path,
      token: held.token,
      ...labelOf(settings),
      waitedMs: deadline?.elapsedMs ?? 0,
    });
    return held;
  }

  #busy(report: NativeReport, waitedMs: number): BucketBusyError {
    return new BucketBusyError({
      path: this.path,
      bucketId: this.bucketId,
      report: toLockReport(report),
      waitedMs: Math.ceil(waitedMs),
    });
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

  #request(addon: NativeAddon, { label }: AcquireSettings, inTurn: boolean): BucketRequest {
    this.#spec ??= this.#makeSpec(addon);
    return { directory: this.path, spec: this.#spec, label, inTurn };
  }

  #makeSpec(addon: NativeAddon): NativeBucketSpec {
    const { mode, create, recordFormat, trustKernelLocks } = this.#settings;
    return addon.bucketSpec(this.path, mode, create, recordFormat, trustKernelLocks);
  }
}

/** A single attempt has all the time that the pool takes. */
function patienceWithin(waitMs: number): number | undefined {
  return waitMs === 0 ? undefined : Math.min(waitMs, POOL_PATIENCE_MS);
}

function labelOf({ label }: AcquireSettings): { readonly label?: string } {
  return label === undefined ? {} : { label };
}

/** Somebody wants to hear of the wait. */
function isTold({ onWait }: AcquireSettings): boolean {
  return onWait !== undefined || diagnostics.wait.heard !== undefined;
}

/** Whoever never came to the head of the line has seen no holder there. */
function isBlank(outcome: NativeAttempt): boolean {
  return outcome.outcome === 'busy' && outcome.report.state !== 'held';
}

/** What was seen last, where the wait has seen nobody. */
function withHolder(
  outcome: NativeAttempt,
  seen: NativeReport | undefined,
  first: NativeBusy | undefined,
): NativeAttempt {
  if (!isBlank(outcome)) return outcome;
  return seen?.state === 'held' ? { outcome: 'busy', report: seen } : (first ?? outcome);
}
