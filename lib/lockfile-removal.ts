import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { invalidType, invalidValue } from './argument-errors.js';
import { retryWhileBlocked, retryWhileBlockedSync } from './blocked-retry.js';
import { Deadline } from './deadline.js';
import { diagnostics } from './diagnostics.js';
import { LockError } from './errors.js';
import { loadAddon } from './native.js';
import type { NativeRemoval } from './native.js';
import { readUnlinkOptions } from './options.js';
import type { UnlinkSettings } from './options.js';
import { explainErrno } from './outcome-errors.js';

/**
 * How long a removal that must succeed waits for whoever keeps the lockfile open, in milliseconds:
 * an antivirus or a backup lets go sooner.
 *
 * @example
 * ```ts
 * await unlinkLockfile(path, { retryMs: LOCKFILE_UNLINK_RETRY_MS });
 * ```
 */
export const LOCKFILE_UNLINK_RETRY_MS = 10_000;

/**
 * How to remove a lockfile.
 *
 * @example
 * ```ts
 * await unlinkLockfile(path, { retryMs: LOCKFILE_UNLINK_RETRY_MS, reason: 'left by version 1' });
 * ```
 */
export interface UnlinkLockfileOptions {
  /**
   * How long to try again, every 20 ms, while another program's open handle forbids it, in
   * milliseconds. That happens on Windows only.
   *
   * @default 0
   */
  retryMs?: number | undefined;

  /** Why it is removed; for diagnostics alone. */
  reason?: string | undefined;
}

/**
 * Removes a file, whoever's it is. It asks for no lock: for lockfiles of other programs and
 * formats. To free a bucket whose holder is gone, use `breakLock`.
 *
 * Resolves `true` when it is gone, removed by this call or absent before, and `false` when another
 * program kept it from being removed for `retryMs`.
 *
 * @throws LockError with the system's code for everything else, such as `EACCES` or, for a
 * directory, `EISDIR`. Off Windows every denied permission is one.
 * @example
 * ```ts
 * const isGone = await unlinkLockfile('/srv/orders/legacy.lock', { retryMs: 2_000 });
 * ```
 */
export async function unlinkLockfile(
  path: string | URL,
  options?: UnlinkLockfileOptions,
): Promise<boolean> {
  const removal = new Removal(path, readUnlinkOptions(options));
  const addon = loadAddon();
  const attempt = (): Promise<NativeRemoval> => addon.removePath(removal.path);
  const first = await attempt();
  return removal.answer(await retryWhileBlocked(first, attempt, isBlocked, removal.retryMs));
}

/**
 * `unlinkLockfile` on the calling thread.
 *
 * @example
 * ```ts
 * const isGone = unlinkLockfileSync('/srv/orders/legacy.lock');
 * ```
 */
export function unlinkLockfileSync(path: string | URL, options?: UnlinkLockfileOptions): boolean {
  const removal = new Removal(path, readUnlinkOptions(options));
  const addon = loadAddon();
  const attempt = (): NativeRemoval => addon.removePathSync(removal.path);
  return removal.answer(retryWhileBlockedSync(attempt(), attempt, isBlocked, removal.retryMs));
}

/** One call: where, for how long, and what its outcome comes to. */
class Removal {
  readonly path: string;
  readonly retryMs: number;
  readonly #reason: string | undefined;
  readonly #deadline: Deadline;

  constructor(path: unknown, { retryMs, reason }: UnlinkSettings) {
    this.path = resolvePath(path);
    this.retryMs = retryMs;
    this.#reason = reason;
    this.#deadline = new Deadline(retryMs);
  }

  answer(outcome: NativeRemoval): boolean {
    if (outcome.outcome === 'failed') {
      const { errno, syscall, path } = outcome;
      const { code, words } = explainErrno(errno);
      const message = `Cannot remove the lockfile '${path}': ${code}: ${words}, ${syscall} '${path}'`;
      throw new LockError(message, { code, errno, syscall, path });
    }
    diagnostics.unlink.heard?.publish({
      path: this.path,
      outcome: outcome.outcome === 'busy' ? 'blocked' : outcome.outcome,
      waitedMs: this.#deadline.elapsedMs,
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
    });
    return !isBlocked(outcome);
  }
}

function isBlocked({ outcome }: NativeRemoval): boolean {
  return outcome === 'busy';
}

function resolvePath(path: unknown): string {
  if (typeof path !== 'string' && !(path instanceof URL)) {
    throw invalidType('path', 'a path or a file: URL', path);
  }
  const text = typeof path === 'string' ? path : fileURLToPath(path);
  if (text === '' || text.includes('\0')) {
    throw invalidValue('path', 'not empty and without NUL characters', text);
  }
  return resolve(text);
}
