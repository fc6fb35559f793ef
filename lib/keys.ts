import { invalidType, invalidValue } from './argument-errors.js';
import { blake2bOf } from './blake2b.js';

/** How many bytes a key digest has. */
export const KEY_DIGEST_BYTES = 8;

/** Before each part: how many bytes of UTF-8 it has, the highest first. */
const LENGTH_BYTES = 4;

/**
 * A digest of 8 bytes that stands for a key of one or more parts: BLAKE2b of the parts in UTF-8, each
 * after its length, so that `('a', 'bc')` and `('ab', 'c')` differ. Texts that look alike and are
 * spelt differently (`é` as one character or two) differ, too. The same as `key_digest` of the Python
 * package `lacing`.
 *
 * @throws TypeError for a part that is no string, or holds half of a surrogate pair, which has no
 *   UTF-8.
 *
 * @example
 * ```ts
 * Buffer.from(keyDigest('owner', 'project', 'doc')).toString('hex');
 * ```
 */
export function keyDigest(...parts: readonly string[]): Uint8Array {
  const fields = parts.flatMap((part, at) => {
    const text = Buffer.from(checkedPart(part, `parts[${String(at)}]`), 'utf8');
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(text.length);
    return [length, text];
  });
  return blake2bOf(Buffer.concat(fields), KEY_DIGEST_BYTES);
}

/**
 * The key digest as the signed 64-bit number that PostgreSQL's `pg_advisory_lock` takes. The same as
 * `advisory_lock_id` of the Python package `lacing`.
 *
 * @throws TypeError as `keyDigest` does.
 *
 * @example
 * ```ts
 * await client.query('SELECT pg_advisory_lock($1)', [advisoryLockId('owner', 'project')]);
 * ```
 */
export function advisoryLockId(...parts: readonly string[]): bigint {
  return Buffer.from(keyDigest(...parts)).readBigInt64BE();
}

/**
 * Where the lock file of a key lies beside a database: `<dbPath>.<key digest in hex>.lock`. Any string
 * will do as a key on every system, and the path is used as it is given: not made absolute, and no
 * link in it followed. The same as `sidecar_lock_path` of the Python package `lacing`.
 *
 * @throws TypeError for a path that is no string or empty, and for a key as `keyDigest` does.
 *
 * @example
 * ```ts
 * sidecarLockPath('/srv/notes.db', 'chapter 1'); // '/srv/notes.db.<16 hex digits>.lock'
 * ```
 */
export function sidecarLockPath(dbPath: string, key: string): string {
  if (typeof dbPath !== 'string') throw invalidType('dbPath', 'a path', dbPath);
  if (dbPath === '' || dbPath.includes('\0')) throw invalidValue('dbPath', 'a path', dbPath);
  const digest = Buffer.from(keyDigest(checkedPart(key, 'key'))).toString('hex');
  return `${dbPath}.${digest}.lock`;
}

function checkedPart(part: unknown, name: string): string {
  if (typeof part !== 'string') throw invalidType(name, 'a string', part);
  // With the flag u a pair is one character, so this finds only halves.
  if (/\p{Surrogate}/u.test(part)) throw invalidValue(name, 'a well-formed string', part);
  return part;
}
