import { brand } from './brand.js';
import {
  busyMessage,
  invalidBucketMessage,
  lostMessage,
  namedLockCalled,
  reentryMessage,
  releaseBlockedMessage,
  unsupportedMessage,
} from './error-messages.js';
import type { NamedLockId } from './diagnostics.js';
import type { LockReport } from './lock.js';

/**
 * The codes of the error classes here; they never change. A `LockError` that passes a system
 * error on has that error's code instead, such as `EACCES`.
 *
 * @example
 * ```ts
 * if (error.code === LOCK_ERROR_CODES.BucketBusyError) retryLater();
 * ```
 */
export const LOCK_ERROR_CODES = Object.freeze({
  /** Somebody else holds the lock. */
  LockBusyError: 'ERR_LOCK_BUSY',
  /** Somebody else holds the bucket lock. */
  BucketBusyError: 'ERR_BUCKET_BUSY',
  /** What the path names cannot be a bucket. */
  BucketValidationError: 'ERR_BUCKET_INVALID',
  /** The lockfile could not be removed, and the lock is still held. */
  LockReleaseBlockedError: 'ERR_LOCK_RELEASE_BLOCKED',
  /** The lock is no longer ours. */
  LockLostError: 'ERR_LOCK_LOST',
  /** The caller would wait for itself. */
  LockReentryError: 'ERR_LOCK_REENTRY',
  /** The file system has no kernel file locks. */
  LockUnsupportedError: 'ERR_LOCK_UNSUPPORTED',
  /** The native addon cannot be loaded. */
  LockAddonError: 'ERR_LOCK_ADDON',
} as const);

/** One of the codes in `LOCK_ERROR_CODES`. */
export type LockErrorCode = (typeof LOCK_ERROR_CODES)[keyof typeof LOCK_ERROR_CODES];

/** Why a path cannot be locked as a bucket. */
export type BucketInvalidReason =
  | 'bucket_dir_not_directory'
  | 'bucket_dir_missing'
  | 'bucket_dir_disappeared'
  | 'bucket_id_invalid'
  | 'lockfile_not_regular';

/** How a lock was lost. */
export type LockLostReason = 'removed' | 'replaced' | 'other-process';

/** What a `LockError` carries besides its message. */
export interface LockErrorDetails {
  readonly code: string;
  readonly path?: string | undefined;
  readonly lockName?: string | undefined;
  readonly errno?: number | undefined;
  readonly syscall?: string | undefined;
  readonly cause?: unknown;
}

/**
 * A failure of a lock that is no misuse of an argument. One that passes a system error on
 * keeps `code`, `errno` (negative), `syscall` and `path` as Node's own errors do.
 *
 * @example
 * ```ts
 * try {
 *   await lock.acquire();
 * } catch (error) {
 *   if (isLockError(error) && error.code === 'EACCES') console.error(error.path);
 *   throw error;
 * }
 * ```
 */
export class LockError extends Error {
  static {
    brand(this.prototype, 'LockError');
  }

  readonly code: string;
  declare readonly path?: string;
  /** The name of a named lock. */
  declare readonly lockName?: string;
  declare readonly errno?: number;
  declare readonly syscall?: string;

  constructor(message: string, details: LockErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    if (details.path !== undefined) this.path = details.path;
    if (details.lockName !== undefined) this.lockName = details.lockName;
    if (details.errno !== undefined) this.errno = details.errno;
    if (details.syscall !== undefined) this.syscall = details.syscall;
  }
}

/**
 * Somebody else holds the lock; trying again later may help.
 *
 * @example
 * ```ts
 * if (isLockBusyError(error)) console.log(`held since ${error.report.since}`);
 * ```
 */
export class LockBusyError extends LockError {
  static {
    brand(this.prototype, 'LockBusyError');
  }

  /** What was known of the holder when the acquire gave up. */
  readonly report: LockReport;
  /** How long it had waited, in milliseconds; 0 after a single attempt. */
  readonly waitedMs: number;
  readonly retryable = true;

  constructor(message: string, details: LockErrorDetails & LockBusyDetails) {
    super(message, details);
    this.report = details.report;
    this.waitedMs = details.waitedMs;
  }
}

/** What a `LockBusyError` carries besides what every `LockError` does. */
export interface LockBusyDetails {
  readonly report: LockReport;
  readonly waitedMs: number;
}

/**
 * Somebody else holds the bucket lock.
 *
 * @example
 * ```ts
 * if (isBucketBusyError(error)) console.log(`${error.bucketId}: process ${error.holdingPid}`);
 * ```
 */
export class BucketBusyError extends LockBusyError {
  static {
    brand(this.prototype, 'BucketBusyError');
  }

  /** The last component of the bucket's path. */
  readonly bucketId: string;
  /** The holder's PID; 0 where it is unknown. */
  readonly holdingPid: number;

  constructor({ path, bucketId, ...busy }: LockBusyDetails & { path: string; bucketId: string }) {
    super(busyMessage(bucketLockOn(path), busy.report, busy.waitedMs), {
      code: LOCK_ERROR_CODES.BucketBusyError,
      path,
      ...busy,
    });
    this.bucketId = bucketId;
    this.holdingPid = busy.report.pid ?? 0;
  }
}

/**
 * What the path names cannot be locked as a bucket; waiting does not help.
 *
 * @example
 * ```ts
 * if (isBucketValidationError(error) && error.reason === 'bucket_dir_missing') await createBucket();
 * ```
 */
export class BucketValidationError extends LockError {
  static {
    brand(this.prototype, 'BucketValidationError');
  }

  readonly reason: BucketInvalidReason;

  constructor(path: string, reason: BucketInvalidReason) {
    super(invalidBucketMessage(path, reason), {
      code: LOCK_ERROR_CODES.BucketValidationError,
      path,
    });
    this.reason = reason;
  }
}

/**
 * The lockfile could not be removed within the time allowed, because another program keeps it
 * open. The lock is still held, and is released at exit if not before.
 *
 * @example
 * ```ts
 * if (isLockReleaseBlockedError(error)) {
 *   setTimeout(() => held.release().catch(console.error), 60_000);
 * }
 * ```
 */
export class LockReleaseBlockedError extends LockError {
  static {
    brand(this.prototype, 'LockReleaseBlockedError');
  }

  constructor(path: string, retryMs: number, cause?: unknown) {
    super(releaseBlockedMessage(bucketLockOn(path), retryMs), {
      code: LOCK_ERROR_CODES.LockReleaseBlockedError,
      path,
      cause,
    });
  }
}

/**
 * The lock stopped being ours while we took it for ours.
 *
 * @example
 * ```ts
 * held.signal.addEventListener('abort', () => console.error(held.signal.reason.reason));
 * ```
 */
export class LockLostError extends LockError {
  static {
    brand(this.prototype, 'LockLostError');
  }

  readonly reason: LockLostReason;

  constructor(path: string, reason: LockLostReason) {
    super(lostMessage(bucketLockOn(path), reason), { code: LOCK_ERROR_CODES.LockLostError, path });
    this.reason = reason;
  }
}

/**
 * The caller would wait for a lock that it holds itself.
 *
 * @example
 * ```ts
 * await lock.with(async () => {
 *   await lock.with(work); // rejects with a LockReentryError at once
 * });
 * ```
 */
export class LockReentryError extends LockError {
  static {
    brand(this.prototype, 'LockReentryError');
  }

  /** `lock` is the path of a bucket, or a named lock. */
  constructor(lock: string | NamedLockId) {
    const isPath = typeof lock === 'string';
    const called = isPath ? bucketLockOn(lock) : namedLockCalled(lock.name, lock.scope);
    super(reentryMessage(called), {
      code: LOCK_ERROR_CODES.LockReentryError,
      ...(isPath ? { path: lock } : { lockName: lock.name }),
    });
  }
}

/**
 * The file system has no kernel file locks, or none that exclude, and no weaker lock is taken in
 * silence.
 *
 * @example
 * ```ts
 * if (isLockUnsupportedError(error)) console.error(`no locks on ${error.fileSystem}`);
 * ```
 */
export class LockUnsupportedError extends LockError {
  static {
    brand(this.prototype, 'LockUnsupportedError');
  }

  /** The type of the file system, such as `nfs`. */
  readonly fileSystem: string;

  /**
   * `systemError` is the refusal in words, such as `ENOLCK: no locks available, flock`. Undefined:
   * kernel file locks are granted there, and exclude nobody.
   */
  constructor(
    path: string,
    systemError: string | undefined,
    details: {
      readonly fileSystem: string;
      readonly errno?: number | undefined;
      readonly syscall?: string | undefined;
    },
  ) {
    super(unsupportedMessage(bucketLockOn(path), systemError, details.fileSystem), {
      code: LOCK_ERROR_CODES.LockUnsupportedError,
      path,
      errno: details.errno,
      syscall: details.syscall,
    });
    this.fileSystem = details.fileSystem;
  }
}

/**
 * The native addon cannot be loaded. Importing the package never raises this, only the first use
 * of a lock. `path` is the file that does not load, and `cause` what loading it raised; where
 * there is no file for this system, the folder of the package, and no cause.
 *
 * @example
 * ```ts
 * if (isLockAddonError(error)) console.error(error.message, error.cause);
 * ```
 */
export class LockAddonError extends LockError {
  static {
    brand(this.prototype, 'LockAddonError');
  }

  constructor(message: string, details: Pick<LockErrorDetails, 'path' | 'cause'>) {
    super(message, { code: LOCK_ERROR_CODES.LockAddonError, ...details });
  }
}

function bucketLockOn(path: string): string {
  return `The bucket lock on '${path}'`;
}
