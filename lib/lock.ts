/// <reference lib="esnext.disposable" preserve="true" />

/**
 * How to take a lock. Every lock takes these as defaults in its constructor and once more with
 * each call, where what is given wins. Names that are no option are refused, so that a misspelt
 * one is never lost.
 *
 * @example
 * ```ts
 * const held = await lock.acquire({ waitMs: 2_000, label: 'nightly import' });
 * try {
 *   await importOrders();
 * } finally {
 *   await held.release();
 * }
 * ```
 */
export interface AcquireOptions {
  /**
   * How long to wait, in milliseconds, counted from the call. `Infinity`: until the lock is ours or
   * `signal` aborts. `0`: one attempt, as `tryAcquire` makes it.
   *
   * @default 10_000
   */
  waitMs?: number | undefined;

  /**
   * Gives up at once, leaves every queue, and rejects with the signal's reason. To a synchronous
   * acquire only an abort from before the call matters: later its own thread is blocked.
   */
  signal?: AbortSignal | undefined;

  /**
   * Why the lock is taken; shown to whoever waits for it. At most 1024 UTF-16 units. Lone
   * surrogates become U+FFFD, since the record on disk is UTF-8.
   */
  label?: string | undefined;

  /**
   * Called once if the acquire has to wait, with what was seen of the lock. Who comes behind others
   * in line may see it free for a moment, and is not called if its turn comes before anybody has
   * looked. What it throws rejects the acquire, which then holds nothing. Not called by an acquire
   * that does not wait.
   */
  onWait?: ((holder: LockReport) => void) | undefined;

  /**
   * Opts out of the re-entry check: for work that is started inside a `with` but that the `with`
   * does not await.
   *
   * @default false
   */
  detached?: boolean | undefined;
}

/** What a verdict about a lock rests on. */
export type LockEvidence =
  /** Somebody holds the kernel lock on the lockfile. */
  | 'guard'
  /** Nobody holds it, and the record says that its holder would: proof of death. */
  | 'guard-free'
  /** The record is a PID only, and that process is alive. */
  | 'process-alive'
  /** The record is a PID only, and that process is gone. */
  | 'process-gone'
  /** The record is incomplete and young: its writer may still be at it. */
  | 'unstamped'
  /** A file system is involved on which a free kernel lock proves nothing. */
  | 'foreign'
  /** It cannot be told, which counts as held. */
  | 'unknown'
  /** Of lease, Postgres, named and file locks. */
  | 'lease'
  | 'session'
  | 'in-process'
  | 'kernel-lock';

/**
 * What is known of a lock at one moment. It may have changed by the time it is read.
 *
 * @example
 * ```ts
 * const report = await lock.inspect();
 * if (report.state === 'held') console.log(`process ${report.pid} since ${report.since}`);
 * ```
 */
export interface LockReport {
  /** `stale`: a dead holder left it behind; the next acquire takes it without waiting. */
  readonly state: 'free' | 'held' | 'stale';
  /** What `state` rests on; absent when free. */
  readonly evidence?: LockEvidence;
  /** The PID in the record; in another PID namespace it names another process or none. */
  readonly pid?: number;
  /** That process as seen from here. It decides nothing where a kernel lock can. */
  readonly process?: 'alive' | 'gone' | 'reused' | 'unknown';
  /** Whether this very process, in any of its threads, is the holder. */
  readonly thisProcess?: boolean;
  readonly since?: Date;
  readonly label?: string;
  readonly host?: string;
  /** Names this very record; what `breakLock` wants. */
  readonly token?: string;
  /** The type of file system that the lock was seen on, such as `ext` or `nfs`. */
  readonly fileSystem?: string;
}

/**
 * A lock that is held. It is held until `release`, or until this thread or process ends.
 *
 * @example
 * ```ts
 * const held = await lock.acquire();
 * try {
 *   await writeOrders({ signal: held.signal });
 * } finally {
 *   await held.release();
 * }
 * ```
 */
export interface HeldLock extends AsyncDisposable {
  /** The locked path, for locks on one. */
  readonly path?: string;
  /** The locked name, for locks on one. */
  readonly name?: string;
  /** Names this very acquisition. */
  readonly token: string;
  /** Whether a release has succeeded or found the lock no longer ours. */
  readonly released: boolean;
  /**
   * Aborts with a `LockLostError` when `verify`, a release or the end of a `with` finds the lock no
   * longer ours. Nothing watches in between: who needs to know early calls `verify` now and then.
   */
  readonly signal: AbortSignal;

  /**
   * Resolves whether the lock is still ours: `false` after a release too. Where it was lost,
   * `signal` aborts.
   */
  verify(): Promise<boolean>;

  /**
   * Resolves `true` when the lock has been released and `false` when it was no longer ours to
   * release; whatever stands in its place then is left alone. Further calls resolve the same.
   *
   * @throws LockError if the system refused. The lock is still held then, and `release` may be
   * called again.
   */
  release(): Promise<boolean>;

  /** Releases. A lock that was lost is no error here: use `verify`, or `with`, to learn of it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A lock that either kind of release works on, whichever way it was acquired.
 *
 * @example
 * ```ts
 * const held = lock.acquireSync();
 * try {
 *   writeOrdersSync();
 * } finally {
 *   held.releaseSync();
 * }
 * ```
 */
export interface SyncHeldLock extends HeldLock, Disposable {
  /** `verify` on the calling thread. */
  verifySync(): boolean;
  /** `release` on the calling thread; waits for an asynchronous release that is under way. */
  releaseSync(): boolean;
  /** Releases on the calling thread. As with `Symbol.asyncDispose`, a lost lock is no error. */
  [Symbol.dispose](): void;
}

/**
 * What every lock can do.
 *
 * @example
 * ```ts
 * async function importOrders(lock: Lock): Promise<void> {
 *   await lock.with(async () => {
 *     await readAndStoreOrders();
 *   });
 * }
 * ```
 */
export interface Lock {
  /**
   * Resolves once the lock is ours.
   *
   * @throws LockBusyError after `waitMs`; the signal's reason on abort; another `LockError` for
   * every failure that waiting cannot cure.
   */
  acquire(options?: AcquireOptions): Promise<HeldLock>;

  /**
   * One attempt: resolves `null` where the lock is held. It may be ahead of those who stand in line
   * for a bucket, and takes as long there as libuv's thread pool takes to come to it. `waitMs` and
   * `onWait` are without effect, here and in the defaults.
   */
  tryAcquire(options?: AcquireOptions): Promise<HeldLock | null>;

  /**
   * Acquires, runs `body`, releases, and resolves what `body` returned.
   *
   * What `body` throws wins; an error of the release is then attached to it as `releaseError`,
   * or reported by `process.emitWarning` where nothing can be attached.
   *
   * @throws LockLostError if `body` succeeded but the lock was found lost; LockReentryError at
   * once if called inside a `with` on the same lock that still holds it.
   */
  with<T>(body: (held: HeldLock) => T | Promise<T>, options?: AcquireOptions): Promise<T>;

  /**
   * Resolves what is known of the lock. To look at a lockfile that nobody holds takes its kernel
   * lock, shared, for microseconds: a process that is stopped in them keeps acquires out.
   */
  inspect(): Promise<LockReport>;
}

/**
 * A lock with a synchronous face. A synchronous wait blocks the thread: its timers, its signals
 * and its other requests wait too. Worker termination and `process.exit` still work.
 *
 * @example
 * ```ts
 * const orders = lock.withSync(() => JSON.parse(readFileSync(file, 'utf8')));
 * ```
 */
export interface SyncLock extends Lock {
  acquire(options?: AcquireOptions): Promise<SyncHeldLock>;
  tryAcquire(options?: AcquireOptions): Promise<SyncHeldLock | null>;
  with<T>(body: (held: SyncHeldLock) => T | Promise<T>, options?: AcquireOptions): Promise<T>;

  /**
   * `acquire` on the calling thread. A `signal` that aborts during the wait is without effect.
   *
   * @throws LockReentryError at once if this thread would have to wait for a lock that it holds or
   * has asked for itself.
   */
  acquireSync(options?: AcquireOptions): SyncHeldLock;
  /** `tryAcquire` on the calling thread. */
  tryAcquireSync(options?: AcquireOptions): SyncHeldLock | null;
  /** `with` on the calling thread. `body` must not return a promise. */
  withSync<T>(body: (held: SyncHeldLock) => T, options?: AcquireOptions): T;
  /** `inspect` on the calling thread. */
  inspectSync(): LockReport;
}
