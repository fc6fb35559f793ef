export {
  acquireLock,
  acquireLockSync,
  breakLock,
  breakLockSync,
  inspectLock,
  inspectLockSync,
  lockPath,
  releaseLock,
  releaseLockSync,
  withLock,
  withLockSync,
} from './bucket-functions.js';
export { BucketLock } from './bucket-lock.js';
export type { LockDiagnostics, NamedLockId } from './diagnostics.js';
export {
  isBucketBusyError,
  isBucketValidationError,
  isLockAddonError,
  isLockBusyError,
  isLockError,
  isLockLostError,
  isLockReentryError,
  isLockReleaseBlockedError,
  isLockUnsupportedError,
} from './error-guards.js';
export {
  BucketBusyError,
  BucketValidationError,
  LOCK_ERROR_CODES,
  LockAddonError,
  LockBusyError,
  LockError,
  LockLostError,
  LockReentryError,
  LockReleaseBlockedError,
  LockUnsupportedError,
} from './errors.js';
export type {
  BucketInvalidReason,
  LockBusyDetails,
  LockErrorCode,
  LockErrorDetails,
  LockLostReason,
} from './errors.js';
export { KEY_DIGEST_BYTES, advisoryLockId, keyDigest, sidecarLockPath } from './keys.js';
export type {
  AcquireOptions,
  HeldLock,
  Lock,
  LockEvidence,
  LockReport,
  SyncHeldLock,
  SyncLock,
} from './lock.js';
export {
  LOCKFILE_UNLINK_RETRY_MS,
  unlinkLockfile,
  unlinkLockfileSync,
} from './lockfile-removal.js';
export type { UnlinkLockfileOptions } from './lockfile-removal.js';
export { NamedLocks, namedLock } from './named-lock.js';
export type { NamedLock } from './named-lock.js';
export type { BreakLockOptions, BucketLockOptions, InspectLockOptions } from './options.js';
export { probeProcess } from './probe-process.js';
