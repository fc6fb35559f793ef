import type { BucketInvalidReason, LockLostReason } from './errors.js';
import type { LockReport } from './lock.js';
import { describeHolder, waysOut } from './lock-report.js';
import { quoted } from './quoted.js';

/** How messages call a named lock. */
export function namedLockCalled(name: string, scope: string | undefined): string {
  const of = scope === undefined ? '' : ` of '${inWords(scope)}'`;
  return `The named lock '${inWords(name)}'${of}`;
}

/**
 * The sentences of a busy error: who holds it, how long was waited, what can be done. Where waiting
 * may be of no use, what is of use comes first.
 */
export function busyMessage(lock: string, report: LockReport, waitedMs: number): string {
  const state =
    report.state === 'held'
      ? `is ${describeHolder(report)}.`
      : // Free or left behind by the dead when last looked at, yet somebody else was faster.
        'was not to be had in time.';
  const sentences =
    waitedMs === 0
      ? [waysOut(report), 'Pass waitMs to wait.']
      : [`Gave up after ${waitedMs} ms.`, waysOut(report)];
  return [`${lock} ${state}`, ...sentences].filter(Boolean).join(' ');
}

export function invalidBucketMessage(path: string, reason: BucketInvalidReason): string {
  return `'${printable(path)}' cannot be locked as a bucket: ${INVALID_REASONS[reason]}`;
}

export function lostMessage(lock: string, reason: LockLostReason): string {
  return `${lock} is no longer ours: ${LOST_REASONS[reason]}`;
}

export function reentryMessage(lock: string): string {
  return (
    `${lock} is held or asked for by the very code that would now wait for it. ` +
    'Use the lock that is held, release it first, or pass detached: true for work that its holder does not await'
  );
}

/** `cause` is the system's refusal; undefined: its kernel file locks are granted, and exclude nobody. */
export function unsupportedMessage(
  lock: string,
  cause: string | undefined,
  fileSystem: string,
): string {
  if (cause === undefined) {
    return (
      `${lock} cannot be taken: the kernel file locks of its file system (${fileSystem}) exclude nobody, so that trustKernelLocks must not be true. ` +
      'Put the bucket on a local file system, or leave trustKernelLocks out: the lock of a holder that died then stays until breakLock'
    );
  }
  return (
    `${lock} cannot be taken: its file system (${fileSystem}) has no kernel file locks (${cause}). ` +
    'Put the bucket on a local file system. A lease lock needs no kernel file locks; this version of bucketlock has none yet'
  );
}

export function releaseBlockedMessage(lock: string, retryMs: number): string {
  return (
    `${lock} could not be released within ${retryMs} ms: another program keeps its lockfile open. ` +
    'It is still held: call release again, or let it be released at exit'
  );
}

const INVALID_REASONS: Record<BucketInvalidReason, string> = {
  bucket_dir_not_directory: 'it is not a directory',
  bucket_dir_missing: 'there is no such directory, and create is false',
  bucket_dir_disappeared: 'the directory has disappeared meanwhile',
  bucket_id_invalid: 'it must name a directory other than a root and contain no NUL character',
  lockfile_not_regular: 'its .lock is no regular file; remove what stands there',
};

const LOST_REASONS: Record<LockLostReason, string> = {
  removed: 'its lockfile has been removed',
  replaced: 'another lockfile stands in its place',
  'other-process': 'it was acquired by another process, of which this one is a fork',
};

/** A name may hold anything; a message holds what a terminal can print. */
function inWords(name: string): string {
  return quoted(name).slice(1, -1);
}

function printable(path: string): string {
  return path.replaceAll('\0', '\\0');
}
