import { invalidType, invalidValue, outOfRange, showMode } from './argument-errors.js';
import type { AcquireOptions, LockReport } from './lock.js';

/**
 * What kind of bucket lock it is, and the defaults of its acquires.
 *
 * @example
 * ```ts
 * const lock = new BucketLock('/srv/orders', { mode: 0o660, waitMs: 30_000 });
 * ```
 */
export interface BucketLockOptions extends AcquireOptions {
  /**
   * Permissions of the lockfile, past the umask; the bits of `0o600` must be among them. Widen them
   * for a bucket that several users share: who cannot read the lockfile cannot tell whether its
   * holder is alive. But give them to none that you do not trust: who can read it can lock it. The
   * bucket must be writable to all of them, and not sticky. Windows has no such permissions: there
   * it is without effect, and the lockfile inherits the access rights that the bucket gives.
   *
   * @default 0o600
   */
  mode?: number | undefined;

  /**
   * Makes a missing bucket directory, though not its parents.
   *
   * @default true
   */
  create?: boolean | undefined;

  /**
   * What the lockfile says: `full` the PID on the first line and everything else on a second one,
   * `pid` the PID alone, for programs that expect just that. Both are understood when read.
   *
   * For those programs nothing is to stay behind. So, while a lock with `pid` is held, the main
   * thread listens to `SIGINT`, `SIGTERM` and `SIGHUP`: they release, and then kill as ever, unless
   * the program listens itself. A listener runs when the event loop turns: a busy program dies at
   * the end of what it is at, and one that comes to its end first exits as if there had been no
   * signal.
   *
   * @default 'full'
   */
  recordFormat?: 'full' | 'pid' | undefined;

  /**
   * How long a release waits, in milliseconds, for another program that keeps the lockfile from
   * being removed. That happens on Windows only; elsewhere it is without effect.
   *
   * @default 10_000
   */
  releaseRetryMs?: number | undefined;

  /**
   * Says of a file system for which this package would not presume it that its kernel locks can be
   * relied on: that every holder reaches the bucket through the same kernel and the same mount, and
   * that locks are kept there. If it is not so, there can be two holders. An acquire that finds out
   * (on some FUSE file systems a linked name has a lock of its own) is a `LockUnsupportedError`.
   *
   * @default false
   */
  trustKernelLocks?: boolean | undefined;
}

/**
 * Which record to break, and whether kernel locks are trusted where they are not by default.
 *
 * @example
 * ```ts
 * await breakLock(bucket, { token: report.token });
 * ```
 */
export interface BreakLockOptions {
  /** The `token` of the report on the record to break. */
  token: string;
  /**
   * As in `BucketLockOptions`.
   *
   * @default false
   */
  trustKernelLocks?: boolean | undefined;
}

/**
 * How to look at a lock.
 *
 * @example
 * ```ts
 * await inspectLock(bucket, { trustKernelLocks: true });
 * ```
 */
export interface InspectLockOptions {
  /**
   * As in `BucketLockOptions`.
   *
   * @default false
   */
  trustKernelLocks?: boolean | undefined;
}

/** `AcquireOptions`, checked and complete. */
export interface AcquireSettings {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly label: string | undefined;
  readonly onWait: ((holder: LockReport) => void) | undefined;
  readonly detached: boolean;
}

/** `BucketLockOptions`, checked and complete. */
export interface BucketLockSettings extends AcquireSettings {
  readonly mode: number;
  readonly create: boolean;
  readonly recordFormat: 'full' | 'pid';
  readonly releaseRetryMs: number;
  readonly trustKernelLocks: boolean;
}

/** `BreakLockOptions`, checked and complete. */
export interface BreakSettings {
  readonly token: string;
  readonly trustKernelLocks: boolean;
}

/** `UnlinkLockfileOptions`, checked and complete. */
export interface UnlinkSettings {
  readonly retryMs: number;
  readonly reason: string | undefined;
}

export const DEFAULT_ACQUIRE_SETTINGS: AcquireSettings = Object.freeze({
  waitMs: 10_000,
  signal: undefined,
  label: undefined,
  onWait: undefined,
  detached: false,
});

export const DEFAULT_BUCKET_LOCK_SETTINGS: BucketLockSettings = Object.freeze({
  ...DEFAULT_ACQUIRE_SETTINGS,
  mode: 0o600,
  create: true,
  recordFormat: 'full',
  releaseRetryMs: 10_000,
  trustKernelLocks: false,
});

/** Longest label, in UTF-16 units: a record stays readable in one small read. */
const MAX_LABEL_LENGTH = 1024;

/** Longest name of a named lock, or scope of such names, in UTF-16 units. */
const MAX_NAME_LENGTH = 1024;

export function readAcquireOptions(options: unknown, defaults: AcquireSettings): AcquireSettings {
  return readOptions(options, ACQUIRE_CHECKS, defaults);
}

export function readBucketLockOptions(
  options: unknown,
  defaults: BucketLockSettings = DEFAULT_BUCKET_LOCK_SETTINGS,
): BucketLockSettings {
  return readOptions(options, BUCKET_LOCK_CHECKS, defaults);
}

/** The name of a lock, or what the name is one of. `what` is what the argument is called. */
export function readLockName(value: unknown, what: string): string {
  const name = checkString(value, what);
  if (name === '') throw invalidValue(what, 'a string that is not empty', name);
  if (name.length > MAX_NAME_LENGTH) {
    throw outOfRange(what, `a string of at most ${MAX_NAME_LENGTH} UTF-16 units`, name);
  }
  return name;
}

export function readInspectOptions(options: unknown): { readonly trustKernelLocks: boolean } {
  return readOptions<{ readonly trustKernelLocks: boolean }>(
    options,
    { trustKernelLocks: checkBoolean },
    { trustKernelLocks: false },
  );
}

export function readBreakOptions(options: unknown): BreakSettings {
  const read = readOptions<BreakSettings>(
    options,
    { token: checkToken, trustKernelLocks: checkBoolean },
    { token: NO_TOKEN, trustKernelLocks: false },
  );
  if (read.token === NO_TOKEN) throw invalidType('options.token', 'a string', undefined);
  return read;
}

export function readUnlinkOptions(options: unknown): UnlinkSettings {
  return readOptions<UnlinkSettings>(
    options,
    { retryMs: checkDuration, reason: checkString },
    { retryMs: 0, reason: undefined },
  );
}

const NO_TOKEN = '';

type Check<T> = (value: unknown, name: string) => T;
type Checks<T> = { readonly [Name in keyof T]: Check<T[Name]> };

const ACQUIRE_CHECKS: Checks<AcquireSettings> = {
  waitMs: checkDuration,
  signal: checkSignal,
  label: checkLabel,
  onWait: checkCallback,
  detached: checkBoolean,
};

const BUCKET_LOCK_CHECKS: Checks<BucketLockSettings> = {
  ...ACQUIRE_CHECKS,
  mode: checkMode,
  create: checkBoolean,
  recordFormat: checkRecordFormat,
  releaseRetryMs: checkDuration,
  trustKernelLocks: checkBoolean,
};

/** Reads every option once, so that a getter cannot answer the check and the use differently. */
function readOptions<T extends object>(options: unknown, checks: Checks<T>, defaults: T): T {
  if (options === undefined) return defaults;
  if (options === null || typeof options !== 'object') {
    throw invalidType('options', 'an object', options);
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(checks, name)) {
      const known = Object.keys(checks).join(', ');
      throw invalidValue('every option', `one of ${known}`, name);
    }
  }
  const given = options as Partial<Record<keyof T, unknown>>;
  const read: Partial<T> = {};
  for (const name of Object.keys(checks) as (keyof T & string)[]) {
    const value = given[name];
    read[name] = value === undefined ? defaults[name] : checks[name](value, `options.${name}`);
  }
  return read as T;
}

function checkDuration(value: unknown, name: string): number {
  const expected = 'a number of milliseconds from 0 to Infinity';
  if (typeof value !== 'number') throw invalidType(name, expected, value);
  if (!(value >= 0)) throw outOfRange(name, expected, value);
  return value;
}

function checkBoolean(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') throw invalidType(name, 'true or false', value);
  return value;
}

function checkString(value: unknown, name: string): string {
  if (typeof value !== 'string') throw invalidType(name, 'a string', value);
  return value;
}

/** What names no record is refused: it would be taken for a record that is there no longer. */
function checkToken(value: unknown, name: string): string {
  const token = checkString(value, name);
  if (token === NO_TOKEN) throw invalidValue(name, "a report's token", value);
  return token;
}

function checkLabel(value: unknown, name: string): string {
  const label = checkString(value, name);
  if (label.length > MAX_LABEL_LENGTH) {
    throw outOfRange(name, `a string of at most ${MAX_LABEL_LENGTH} UTF-16 units`, label);
  }
  // What UTF-8 cannot carry is replaced here, where it is documented, and not by chance below.
  return Buffer.from(label).toString();
}

function checkCallback(value: unknown, name: string): (holder: LockReport) => void {
  if (typeof value !== 'function') throw invalidType(name, 'a function', value);
  return value as (holder: LockReport) => void;
}

/** Takes other realms' signals too: what counts is that it can be asked and listened to. */
function checkSignal(value: unknown, name: string): AbortSignal {
  if (
    typeof value !== 'object' ||
    value === null ||
    !('aborted' in value) ||
    !('throwIfAborted' in value) ||
    !('addEventListener' in value)
  ) {
    throw invalidType(name, 'an AbortSignal', value);
  }
  return value as AbortSignal;
}

function checkMode(value: unknown, name: string): number {
  const expected = 'file permissions from 0o600 to 0o777 with the bits of 0o600';
  if (typeof value !== 'number') throw invalidType(name, expected, value);
  if (!Number.isInteger(value) || value < 0 || value > 0o777 || (value & 0o600) !== 0o600) {
    throw outOfRange(name, expected, value, showMode);
  }
  return value;
}

function checkRecordFormat(value: unknown, name: string): 'full' | 'pid' {
  if (value !== 'full' && value !== 'pid') throw invalidValue(name, "'full' or 'pid'", value);
  return value;
}
