import { attempt, attemptSync, beginAttempt, waitInLine, waitInLineSync } from './bucket-wait.js';
import type { BucketRequest } from './bucket-wait.js';
import { Deadline } from './deadline.js';
import { diagnostics, labelOf } from './diagnostics.js';
import { Engagement, exitReleaserOf } from './engagement.js';
import { BucketBusyError } from './errors.js';
import { exitSignals } from './exit-signals.js';
import { HeldBucket } from './held-bucket.js';
import { toLockReport } from './lock-report.js';
import { loadAddon } from './native.js';
import type {
  NativeAddon,
  NativeAttempt,
  NativeBucketSpec,
  NativeBusy,
  NativeReport,
} from './native.js';
import type { AcquireSettings, BucketLockSettings } from './options.js';
import { errorOf } from './outcome-errors.js';
import { POOL_PATIENCE_MS, losePatience } from './pool-patience.js';
import { refuseOwnWait } from './reentry.js';

/** How one bucket's lock is acquired: from the first attempt over the wait to the hold. */
export class BucketAcquirer {
  readonly #path: string;
  readonly #bucketId: string;
  readonly #settings: BucketLockSettings;
  /** Made when first needed, for it takes the addon. */
  #spec: NativeBucketSpec | undefined;

  constructor(path: string, bucketId: string, settings: BucketLockSettings) {
    this.#path = path;
    this.#bucketId = bucketId;
    this.#settings = settings;
  }

  async tryAcquire(settings: AcquireSettings): Promise<HeldBucket | null> {
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const engagement = new Engagement(addon, this.#path);
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

  tryAcquireSync(settings: AcquireSettings): HeldBucket | null {
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const outcome = attemptSync(addon, this.#request(addon, settings, false));
    return outcome.outcome === 'busy' ? null : this.#take(outcome, settings);
  }

  async acquire(settings: AcquireSettings): Promise<HeldBucket> {
    const deadline = new Deadline(settings.waitMs);
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const request = this.#request(addon, settings, settings.waitMs > 0);
    // Without a gap from the first attempt until the hold ends.
    const engagement = new Engagement(addon, this.#path);
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
    const look = await loadAddon().inspect(this.#path, this.#settings.trustKernelLocks);
    // Whatever keeps us from looking will be told by the wait itself.
    if (!wait.isOver && look.outcome === 'report') this.#tell(look.report, settings, deadline);
  }

  #lookSync(addon: NativeAddon): NativeReport | undefined {
    const look = addon.inspectSync(this.#path, this.#settings.trustKernelLocks);
    return look.outcome === 'report' ? look.report : undefined;
  }

  /** Who holds the lock now; undefined if the pool does not come to look. */
  #lookInTime(addon: NativeAddon): Promise<NativeReport | undefined> {
    return new Promise((resolve, reject) => {
      const keepPatience = losePatience(POOL_PATIENCE_MS, () => {
        resolve(undefined);
      });
      addon.inspect(this.#path, this.#settings.trustKernelLocks).then((look) => {
        keepPatience();
        resolve(look.outcome === 'report' ? look.report : undefined);
      }, reject);
    });
  }

  acquireSync(settings: AcquireSettings): HeldBucket {
    const deadline = new Deadline(settings.waitMs);
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const request = this.#request(addon, settings, settings.waitMs > 0);
    const first = attemptSync(addon, request);
    if (first.outcome !== 'busy') return this.#take(first, settings);
    if (settings.waitMs > 0 && !settings.detached) refuseOwnWait(this.#path);
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
      path: this.#path,
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
    if (outcome.outcome !== 'acquired') throw errorOf(outcome, this.#path, 'acquire');
    const addon = loadAddon();
    const engagement = engaged ?? new Engagement(addon, this.#path);
    // Programs that know of PIDs only do not see that the kernel lock is free.
    const isPidOnly = this.#settings.recordFormat === 'pid';
    const unlisten = isPidOnly ? exitSignals().retain(exitReleaserOf(addon)) : undefined;
    const held = new HeldBucket(addon, this.#path, outcome, {
      releaseRetryMs: this.#settings.releaseRetryMs,
      onLost: engagement.forget,
      onReleased: () => {
        engagement.end();
        unlisten?.();
      },
    });
    diagnostics.acquire.heard?.publish({
      kind: 'bucket',
      path: this.#path,
      token: held.token,
      ...labelOf(settings),
      waitedMs: deadline?.elapsedMs ?? 0,
    });
    return held;
  }

  #busy(report: NativeReport, waitedMs: number): BucketBusyError {
    return new BucketBusyError({
      path: this.#path,
      bucketId: this.#bucketId,
      report: toLockReport(report),
      waitedMs: Math.ceil(waitedMs),
    });
  }

  #request(addon: NativeAddon, { label }: AcquireSettings, inTurn: boolean): BucketRequest {
    this.#spec ??= this.#makeSpec(addon);
    return { directory: this.#path, spec: this.#spec, label, inTurn };
  }

  #makeSpec(addon: NativeAddon): NativeBucketSpec {
    const { mode, create, recordFormat, trustKernelLocks } = this.#settings;
    return addon.bucketSpec(this.#path, mode, create, recordFormat, trustKernelLocks);
  }
}

/** A single attempt has all the time that the pool takes. */
function patienceWithin(waitMs: number): number | undefined {
  return waitMs === 0 ? undefined : Math.min(waitMs, POOL_PATIENCE_MS);
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
