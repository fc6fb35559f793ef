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
  const hint = doing === 'acquire' ? hintFor(code, syscall) : undefined;
  const sentence = hint === undefined ? message : `${message}; ${hint}`;
  return new LockError(sentence, { code, errno, syscall, path });
}

/** What an acquire needs of directories, if it has failed for want of that. */
function hintFor(code: string, syscall: string): string | undefined {
  if (syscall === 'mkdir') {
    if (code === 'ENOENT') return 'its parent directory must exist';
    return DENIALS.has(code) ? 'its parent directory must be writable' : undefined;
  }
  return DENIALS.has(code) && CREATING.has(syscall)
    ? 'the bucket directory must be writable for whoever locks it'
    : undefined;
}

const DENIALS: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);
/** The system calls that create and publish a lockfile. */
const CREATING: ReadonlySet<string> = new Set(['open', 'link', 'rename']);

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
