import { Deadline } from './deadline.js';
import { diagnostics, labelOf } from './diagnostics.js';
import type { NamedLockId } from './diagnostics.js';
import { busyMessage, namedLockCalled } from './error-messages.js';
import { LOCK_ERROR_CODES, LockBusyError, LockReentryError } from './errors.js';
import { HeldNamedLock } from './held-named-lock.js';
import type { AcquireOptions, LockReport, SyncHeldLock, SyncLock } from './lock.js';
import { liveFrames, runWithin } from './named-frames.js';
import { toNamedReport, tokenOf } from './named-report.js';
import { waitInLine, waitInLineSync } from './named-wait.js';
import type { NamedWaitEnd } from './named-wait.js';
import type { NativeNamedBusy, NativeNamedHolder } from './native-named.js';
import { loadAddon } from './native.js';
import type { NativeAddon } from './native.js';
import { DEFAULT_ACQUIRE_SETTINGS, readAcquireOptions, readLockName } from './options.js';
import type { AcquireSettings } from './options.js';
import { checkBody, checkSyncResult } from './with-body.js';

/**
 * Excludes all code of this process, in each of its threads, from what goes by one name. First come,
 * first served, whichever thread asks. It is not re-entrant, and it says nothing to other processes.
 * Made by `namedLock` and `NamedLocks.lock`; any number of objects for one name are one lock.
 *
 * A lock that is free is taken without leaving the thread; one that is released goes to the next in
 * line at once. The end of a worker thread, by `terminate` too, releases what it held and takes it
 * out of every line.
 *
 * @example
 * ```ts
 * const lock: NamedLock = namedLock('orders');
 * const held = await lock.acquire({ waitMs: 2_000, label: 'nightly import' });
 * try {
 *   await importOrders();
 * } finally {
 *   await held.release();
 * }
 * ```
 */
export class NamedLock implements SyncLock {
  readonly name: string;
  /** What the name is one of; undefined: of the names that all code of the process shares. */
  readonly scope: string | undefined;
  readonly #id: NamedLockId;
  /** The name among those of all scopes. */
  readonly #key: string;
  readonly #settings: AcquireSettings;

  /** For `namedLock` and `NamedLocks`, which check the arguments. Does not load the addon. */
  constructor(name: string, scope: string | undefined, settings: AcquireSettings) {
    this.name = name;
    this.scope = scope;
    this.#id = { kind: 'named', name, ...(scope === undefined ? {} : { scope }) };
    this.#key = scope === undefined ? `:${name}` : `${scope.length}:${scope}${name}`;
    this.#settings = settings;
  }

  /** @throws LockBusyError after `waitMs`; see `Lock.acquire`. */
  async acquire(options?: AcquireOptions): Promise<SyncHeldLock> {
    return await this.#acquire(this.#read(options));
  }

  // Not async: it never waits for anything, but what it throws is a rejection all the same.
  tryAcquire(options?: AcquireOptions): Promise<SyncHeldLock | null> {
    return new Promise((resolve) => {
      resolve(this.tryAcquireSync(options));
    });
  }

  async with<T>(
    body: (held: SyncHeldLock) => T | Promise<T>,
    options?: AcquireOptions,
  ): Promise<T> {
    checkBody(body);
    const settings = this.#read(options);
    this.#refuseNested(settings);
    const held = await this.#acquire(settings);
    try {
      return await runWithin(held, () => body(held));
    } finally {
      held.releaseSync();
    }
  }

  /** Resolves what is known of the lock. */
  inspect(): Promise<LockReport> {
    return new Promise((resolve) => {
      resolve(this.inspectSync());
    });
  }

  /** @throws LockBusyError after `waitMs`; see `SyncLock.acquireSync`. */
  acquireSync(options?: AcquireOptions): SyncHeldLock {
    return this.#acquireSync(this.#read(options));
  }

  tryAcquireSync(options?: AcquireOptions): SyncHeldLock | null {
    const settings = this.#read(options);
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const first = addon.namedAttempt(this.#key, settings.label);
    return typeof first === 'number' ? this.#hold(addon, first, settings) : null;
  }

  withSync<T>(body: (held: SyncHeldLock) => T, options?: AcquireOptions): T {
    checkBody(body);
    const settings = this.#read(options);
    this.#refuseNested(settings);
    const held = this.#acquireSync(settings);
    try {
      const result = runWithin(held, () => body(held));
      checkSyncResult(result);
      return result;
    } finally {
      held.releaseSync();
    }
  }

  inspectSync(): LockReport {
    const addon = loadAddon();
    return toNamedReport(addon, addon.namedInspect(this.#key));
  }

  async #acquire(settings: AcquireSettings): Promise<HeldNamedLock> {
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const first = addon.namedAttempt(this.#key, settings.label);
    if (typeof first === 'number') return this.#hold(addon, first, settings);
    const deadline = new Deadline(settings.waitMs);
    this.#expectWait(addon, first, settings, deadline);
    const request = { key: this.#key, label: settings.label };
    const end = await waitInLine(addon, request, deadline, settings.signal);
    return this.#take(addon, end, first, settings, deadline);
  }

  #acquireSync(settings: AcquireSettings): HeldNamedLock {
    settings.signal?.throwIfAborted();
    const addon = loadAddon();
    const first = addon.namedAttempt(this.#key, settings.label);
    if (typeof first === 'number') return this.#hold(addon, first, settings);
    const deadline = new Deadline(settings.waitMs);
    if (settings.waitMs > 0 && !settings.detached && first.own) throw this.#reentry();
    this.#expectWait(addon, first, settings, deadline);
    const request = { key: this.#key, label: settings.label };
    const end = waitInLineSync(addon, request, deadline, settings.signal);
    return this.#take(addon, end, first, settings, deadline);
  }

  /** Between the first attempt and the wait: throws if there is to be no wait after all. */
  #expectWait(
    addon: NativeAddon,
    { holder }: NativeNamedBusy,
    settings: AcquireSettings,
    deadline: Deadline,
  ): void {
    if (settings.waitMs === 0) throw this.#busy(addon, holder, 0);
    diagnostics.wait.heard?.publish({
      ...this.#id,
      ...labelOf(settings),
      holder: toNamedReport(addon, holder),
      waitMs: deadline.remainingMs,
    });
    settings.onWait?.(toNamedReport(addon, holder));
    settings.signal?.throwIfAborted();
    if (deadline.remainingMs <= 0) throw this.#busy(addon, holder, deadline.elapsedMs);
  }

  #take(
    addon: NativeAddon,
    end: NamedWaitEnd,
    first: NativeNamedBusy,
    settings: AcquireSettings,
    deadline: Deadline,
  ): HeldNamedLock {
    const waitedMs = deadline.elapsedMs;
    if ('claim' in end) return this.#hold(addon, end.claim, settings, waitedMs);
    throw this.#busy(addon, end.holder ?? first.holder, waitedMs);
  }

  #hold(addon: NativeAddon, claim: number, settings: AcquireSettings, waitedMs = 0): HeldNamedLock {
    const held = new HeldNamedLock(addon, this.#id, claim);
    diagnostics.acquire.heard?.publish({
      ...this.#id,
      token: held.token,
      ...labelOf(settings),
      waitedMs,
    });
    return held;
  }

  #busy(addon: NativeAddon, holder: NativeNamedHolder, elapsedMs: number): LockBusyError {
    const report = toNamedReport(addon, holder);
    const waitedMs = Math.ceil(elapsedMs);
    return new LockBusyError(
      busyMessage(namedLockCalled(this.name, this.scope), report, waitedMs),
      { code: LOCK_ERROR_CODES.LockBusyError, lockName: this.name, report, waitedMs },
    );
  }

  #refuseNested({ detached }: AcquireSettings): void {
    const around = detached ? [] : liveFrames();
    if (around.length === 0) return;
    const addon = loadAddon();
    const holder = addon.namedInspect(this.#key);
    if (holder === undefined) return;
    const token = tokenOf(addon, holder.claim);
    if (around.some((frame) => frame.token === token)) throw this.#reentry();
  }

  #reentry(): LockReentryError {
    return new LockReentryError(this.#id);
  }

  #read(options: AcquireOptions | undefined): AcquireSettings {
    return readAcquireOptions(options, this.#settings);
  }
}

/**
 * The lock of a name among those that all code of the process shares, libraries included: whoever
 * asks for the same name gets the same lock. For a program's own locks. Libraries use `NamedLocks`,
 * so that their names meet nobody else's.
 *
 * @throws TypeError, RangeError for a name that is no string, empty or longer than 1024 UTF-16
 * units, and for unusable options.
 *
 * @example
 * ```ts
 * await namedLock('orders').with(importOrders);
 * ```
 */
export function namedLock(name: string, options?: AcquireOptions): NamedLock {
  const settings = readAcquireOptions(options, DEFAULT_ACQUIRE_SETTINGS);
  return new NamedLock(readLockName(name, 'name'), undefined, settings);
}

/**
 * The named locks of one scope: whoever makes it with the same scope gets the same locks. A library
 * takes the name of its package.
 *
 * @example
 * ```ts
 * const locks = new NamedLocks('@acme/orders', { waitMs: 2_000 });
 * await locks.lock(customer).with(() => importOrdersOf(customer));
 * ```
 */
export class NamedLocks {
  readonly scope: string;
  readonly #settings: AcquireSettings;

  /**
   * `options` are the defaults of all its locks.
   *
   * @throws TypeError, RangeError as `namedLock` does.
   */
  constructor(scope: string, options?: AcquireOptions) {
    this.scope = readLockName(scope, 'scope');
    this.#settings = readAcquireOptions(options, DEFAULT_ACQUIRE_SETTINGS);
  }

  /** @throws TypeError, RangeError as `namedLock` does. */
  lock(name: string): NamedLock {
    return new NamedLock(readLockName(name, 'name'), this.scope, this.#settings);
  }
}
