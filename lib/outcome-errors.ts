import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { BucketValidationError, LockError, LockUnsupportedError } from './errors.js';
import type { NativeBlocked, NativeFailure, NativeInvalid, NativeUnsupported } from './native.js';

/** The error for an outcome of the addon that is none of the answers hoped for. */
export function errorOf(
  outcome: NativeBlocked | NativeFailure | NativeInvalid | NativeUnsupported,
  directory: string,
  doing: string,
): LockError {
  if (outcome.outcome === 'invalid') return new BucketValidationError(directory, outcome.reason);
  if (outcome.outcome === 'unsupported') {
    return new LockUnsupportedError(directory, refusalOf(outcome), outcome);
  }
  const { errno, syscall, path } = outcome;
  const { code, words } = explainErrno(errno);
  const message = `Cannot ${doing} the bucket lock on '${directory}': ${code}: ${words}, ${syscall} '${path}'`;
  const hint = code === 'ENOENT' && syscall === 'mkdir' ? '; its parent directory must exist' : '';
  return new LockError(message + hint, { code, errno, syscall, path });
}

function refusalOf({ errno, syscall }: NativeUnsupported): string | undefined {
  if (errno === undefined || syscall === undefined) return undefined;
  const { code, words } = explainErrno(errno);
  return `${code}: ${words}, ${syscall}`;
}

/** What file systems answer that is not in Node's table, which has only what libuv itself meets. */
const WORDS: Readonly<Record<string, string>> = {
  EDQUOT: 'disk quota exceeded',
  ENOLCK: 'no locks available',
  ESTALE: 'stale file handle',
};

/** A negative system error number in Node's words. */
export function explainErrno(errno: number): { readonly code: string; readonly words: string } {
  const known = getSystemErrorMap().get(errno);
  if (known !== undefined) return { code: known[0], words: known[1] };
  const named = Object.entries(constants.errno).find(([, number]) => number === -errno);
  const code = named?.[0] ?? 'UNKNOWN';
  return { code, words: WORDS[code] ?? `unknown system error ${errno}` };
}
