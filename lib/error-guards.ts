import { hasBrand } from './brand.js';
import type {
  BucketBusyError,
  BucketValidationError,
  LockAddonError,
  LockBusyError,
  LockError,
  LockLostError,
  LockReentryError,
  LockReleaseBlockedError,
  LockUnsupportedError,
} from './errors.js';

// Unlike `instanceof`, these know the errors of every copy of this module in the process.

/**
 * Whether a value is a `LockError`, or one of its subclasses.
 *
 * @example
 * ```ts
 * if (isLockError(error)) console.error(error.code, error.path);
 * ```
 */
export function isLockError(value: unknown): value is LockError {
  return hasBrand(value, 'LockError');
}

/**
 * Whether a value says that somebody else holds the lock.
 *
 * @example
 * ```ts
 * if (isLockBusyError(error)) console.log(error.report.pid);
 * ```
 */
export function isLockBusyError(value: unknown): value is LockBusyError {
  return hasBrand(value, 'LockBusyError');
}

/**
 * Whether a value says that somebody else holds the bucket lock.
 *
 * @example
 * ```ts
 * if (isBucketBusyError(error)) console.log(error.bucketId, error.holdingPid);
 * ```
 */
export function isBucketBusyError(value: unknown): value is BucketBusyError {
  return hasBrand(value, 'BucketBusyError');
}

/**
 * Whether a value says that a path cannot be locked as a bucket.
 *
 * @example
 * ```ts
 * if (isBucketValidationError(error)) console.error(error.reason);
 * ```
 */
export function isBucketValidationError(value: unknown): value is BucketValidationError {
  return hasBrand(value, 'BucketValidationError');
}

/**
 * Whether a value says that a release is blocked by another program.
 *
 * @example
 * ```ts
 * if (isLockReleaseBlockedError(error)) console.error(`${error.path} is still locked`);
 * ```
 */
export function isLockReleaseBlockedError(value: unknown): value is LockReleaseBlockedError {
  return hasBrand(value, 'LockReleaseBlockedError');
}

/**
 * Whether a value says that a lock was lost.
 *
 * @example
 * ```ts
 * if (isLockLostError(held.signal.reason)) console.error(held.signal.reason.reason);
 * ```
 */
export function isLockLostError(value: unknown): value is LockLostError {
  return hasBrand(value, 'LockLostError');
}

/**
 * Whether a value says that the caller would have waited for itself.
 *
 * @example
 * ```ts
 * if (isLockReentryError(error)) console.error('release first', error.path);
 * ```
 */
export function isLockReentryError(value: unknown): value is LockReentryError {
  return hasBrand(value, 'LockReentryError');
}

/**
 * Whether a value says that the file system has no kernel file locks.
 *
 * @example
 * ```ts
 * if (isLockUnsupportedError(error)) console.error(error.fileSystem);
 * ```
 */
export function isLockUnsupportedError(value: unknown): value is LockUnsupportedError {
  return hasBrand(value, 'LockUnsupportedError');
}

/**
 * Whether a value says that the native addon cannot be loaded.
 *
 * @example
 * ```ts
 * if (isLockAddonError(error)) console.error(error.cause);
 * ```
 */
export function isLockAddonError(value: unknown): value is LockAddonError {
  return hasBrand(value, 'LockAddonError');
}
