import { loadAddonFile } from './addon-loading.js';
import type { BucketInvalidReason, LockLostReason } from './errors.js';
import type { NativeNamedCalls } from './native-named.js';

/** A bucket and how it is locked, as the addon keeps it: made once, so that no call reads it anew. */
export interface NativeBucketSpec {
  readonly [opaque]: never;
}

declare const opaque: unique symbol;

export interface NativeReport {
  readonly state: 'free' | 'held' | 'stale';
  readonly evidence?:
    'guard' | 'guard-free' | 'process-alive' | 'process-gone' | 'unstamped' | 'foreign' | 'unknown';
  readonly pid?: number;
  readonly process?: 'alive' | 'gone' | 'reused' | 'unknown';
  readonly thisProcess?: boolean;
  readonly sinceMs?: number;
  readonly label?: string;
  readonly host?: string;
  readonly token?: string;
  /** File system the lock directory was seen on, such as `ext` or `nfs`. */
  readonly fileSystem?: string;
}

/** A system call failed for a reason that is no contention. `errno` is negative, as libuv counts. */
export interface NativeFailure {
  readonly outcome: 'failed';
  readonly errno: number;
  readonly syscall: string;
  readonly path: string;
}

/** The file system has no kernel file locks, or without a system error: they exclude nobody. */
export interface NativeUnsupported {
  readonly outcome: 'unsupported';
  readonly errno?: number;
  readonly syscall?: string;
  readonly path: string;
  readonly fileSystem: string;
}

/** What the path names cannot be a bucket or its lockfile. */
export interface NativeInvalid {
  readonly outcome: 'invalid';
  readonly reason: Exclude<BucketInvalidReason, 'bucket_id_invalid'>;
}

/** `hold` names the lock in this environment until a release answers `released` or `lost`. */
export interface NativeAcquired {
  readonly outcome: 'acquired';
  readonly hold: number;
  readonly token: string;
}

export interface NativeBusy {
  readonly outcome: 'busy';
  readonly report: NativeReport;
}

export type NativeAttempt = (
  NativeAcquired | NativeBusy | NativeInvalid | NativeUnsupported | NativeFailure
) & {
  /** The dead holder's lockfile that was removed on the way; of several, the last. */
  readonly reclaimed?: NativeReport;
};

/** Another program's open handle forbids the removal for now; nothing has changed. */
export interface NativeBlocked {
  readonly outcome: 'blocked';
  readonly errno: number;
  readonly syscall: string;
  readonly path: string;
}

export type NativeRelease =
  | { readonly outcome: 'released' }
  | { readonly outcome: 'lost'; readonly reason: LockLostReason }
  | NativeBlocked
  | NativeFailure;

export type NativeVerdict =
  | { readonly outcome: 'ours' }
  | { readonly outcome: 'lost'; readonly reason: LockLostReason }
  | NativeFailure;

export type NativeInspection =
  | { readonly outcome: 'report'; readonly report: NativeReport }
  | NativeInvalid
  | NativeUnsupported
  | NativeFailure;

export type NativeBreak =
  /** The record is gone: removed by this call, or there was none. */
  | { readonly outcome: 'gone' }
  /** Another record is there now, or its holder is alive by its guard. */
  | { readonly outcome: 'kept' }
  | NativeInvalid
  | NativeUnsupported
  | NativeFailure;

export type NativeRemoval =
  | { readonly outcome: 'removed' }
  | { readonly outcome: 'absent' }
  /** Somebody's open handle forbids it for now. */
  | { readonly outcome: 'busy' }
  | NativeFailure;

export interface NativeFirstAttempt {
  readonly request: number;
  /**
   * Missing where others of this process stand in line already: then none is made. One that has been
   * given up is busy, and tells what it reclaimed.
   */
  readonly settled?: Promise<NativeAttempt | undefined>;
}

export interface NativeWait {
  readonly request: number;
  /** Resolves undefined once it has been cancelled. */
  readonly settled: Promise<NativeAttempt | undefined>;
}

/**
 * The addon's face. Calls with a promise do their I/O on libuv's pool or on a thread of the
 * addon's own; their `Sync` twins do it here. Arguments are trusted: `options.ts` has checked them.
 */
export interface NativeAddon extends NativeNamedCalls {
  /** Set after everything else. */
  readonly isWhole: true;

  /** `directory`: absolute. Good for this environment only. */
  bucketSpec(
    directory: string,
    mode: number,
    create: boolean,
    recordFormat: 'full' | 'pid',
    trustKernelLocks: boolean,
  ): NativeBucketSpec;

  /**
   * `inTurn`: where others stand in line for the lock, it is busy without an attempt, and the report
   * is that of a free lock, for nobody has looked; and it keeps a
   * place in the line of this process from now on, until the outcome is not `busy`, or
   * `bucketWait` takes the place over, or `leaveLine` gives it up.
   */
  bucketAttempt(
    spec: NativeBucketSpec,
    label: string | undefined,
    inTurn: boolean,
  ): NativeFirstAttempt;
  bucketAttemptSync(
    spec: NativeBucketSpec,
    label: string | undefined,
    inTurn: boolean,
  ): NativeAttempt;
  /** Gives an attempt up, begun or not. What it has won or still wins is released there. */
  cancelAttempt(request: number): void;
  /** Gives up the place that an attempt has kept, if it still has one. */
  leaveLine(request: number): void;

  /**
   * Stands in line until the lock is ours or the attempt fails for good. `attempted`: an attempt
   * has been made before, so a bucket that is missing has disappeared. `kept`: the request of an
   * attempt that has kept a place.
   */
  bucketWait(
    spec: NativeBucketSpec,
    label: string | undefined,
    attempted: boolean,
    kept: number,
  ): NativeWait;
  /** The same, after an attempt, for a thread that will call `waitSlice` until it answers. */
  bucketWaitSync(spec: NativeBucketSpec, label: string | undefined): number | NativeFailure;
  /** Blocks for `sliceMs` at most; undefined: not settled yet. */
  waitSlice(request: number, sliceMs: number): NativeAttempt | undefined;
  /**
   * Leaves the line at once. Answers the lock if it had been granted already (the caller owns it
   * then), else why it was busy last.
   */
  cancelWait(request: number): NativeAttempt;

  release(hold: number): Promise<NativeRelease>;
  releaseSync(hold: number): NativeRelease;
  verify(hold: number): Promise<NativeVerdict>;
  verifySync(hold: number): NativeVerdict;
  /** Releases all this environment holds, within `budgetMs` altogether. For `exit`. */
  releaseAll(budgetMs: number): void;

  inspect(directory: string, trustKernelLocks: boolean): Promise<NativeInspection>;
  inspectSync(directory: string, trustKernelLocks: boolean): NativeInspection;
  breakLock(directory: string, token: string, trustKernelLocks: boolean): Promise<NativeBreak>;
  /** One attempt to remove the file at a path. */
  removePath(path: string): Promise<NativeRemoval>;
  removePathSync(path: string): NativeRemoval;
  /** What can be told by a PID alone, so never `reused`. */
  probeProcess(pid: number): 'alive' | 'gone' | 'unknown';

  breakLockSync(directory: string, token: string, trustKernelLocks: boolean): NativeBreak;
}

let addon: NativeAddon | undefined;

/** The addon, loaded by the first call. */
export function loadAddon(): NativeAddon {
  addon ??= loadAddonFile();
  return addon;
}
