import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { KEY_DIGEST_BYTES, advisoryLockId, keyDigest, sidecarLockPath } from '../lib/keys.js';
import { packageRoot } from './helpers/program.js';

interface Vector {
  readonly parts: readonly string[];
  readonly digest: string;
  readonly advisoryLockId: string;
  readonly sidecar?: string;
}

/** Made by `lacing` 0.0.61. */
const vectors = JSON.parse(
  readFileSync(join(packageRoot, 'test', 'fixtures', 'key-vectors.json'), 'utf8'),
) as readonly Vector[];

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe.each(vectors)('$digest', ({ parts, digest, advisoryLockId: id }) => {
  test('is the digest of its parts', () => {
    expect(hex(keyDigest(...parts))).toBe(digest);
    expect(keyDigest(...parts)).toHaveLength(KEY_DIGEST_BYTES);
  });

  test('is an advisory lock id, too', () => {
    expect(advisoryLockId(...parts)).toBe(BigInt(id));
  });
});

test('keys of other parts have other digests', () => {
  const part = fc.string({ unit: 'binary', maxLength: 12 });
  const key = fc.array(part, { maxLength: 4 });
  fc.assert(
    fc.property(key, key, (one, other) => {
      const isSame = JSON.stringify(one) === JSON.stringify(other);
      expect(hex(keyDigest(...one)) === hex(keyDigest(...other))).toBe(isSame);
    }),
  );
});

test('an advisory lock id is what PostgreSQL takes for a bigint', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (key) => {
      const id = advisoryLockId(key);
      expect(BigInt.asIntN(64, id)).toBe(id);
    }),
  );
});

test('whatever the key, its lock file has a name that every system takes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (key) => {
      expect(sidecarLockPath('notes.db', key)).toMatch(/^notes\.db\.[0-9a-f]{16}\.lock$/);
    }),
  );
});

test.each(vectors.filter(({ sidecar }) => sidecar !== undefined))(
  '$digest names a lock file',
  ({ parts, sidecar }) => {
    expect(sidecarLockPath('/d/x.db', parts.join(''))).toBe(sidecar);
  },
);

test('the path is used as it is given', () => {
  expect(sidecarLockPath('./a/../notes.db', 'k')).toBe('./a/../notes.db.76c2227071f1bdb0.lock');
});

test.each([
  ['a number', () => keyDigest(1 as unknown as string), 'ERR_INVALID_ARG_TYPE', 'parts[0]'],
  [
    'nothing',
    () => advisoryLockId('a', undefined as unknown as string),
    'ERR_INVALID_ARG_TYPE',
    'parts[1]',
  ],
  ['half a surrogate pair', () => keyDigest('a\ud800'), 'ERR_INVALID_ARG_VALUE', 'parts[0]'],
  [
    'a key that is no string',
    () => sidecarLockPath('x', 1 as unknown as string),
    'ERR_INVALID_ARG_TYPE',
    'key',
  ],
  [
    'a path that is no string',
    () => sidecarLockPath(1 as unknown as string, 'k'),
    'ERR_INVALID_ARG_TYPE',
    'dbPath',
  ],
  ['an empty path', () => sidecarLockPath('', 'k'), 'ERR_INVALID_ARG_VALUE', 'dbPath'],
  ['a path with a NUL', () => sidecarLockPath('a\0', 'k'), 'ERR_INVALID_ARG_VALUE', 'dbPath'],
])('%s is a typed error', (_name, call, code, argument) => {
  expect(call).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(argument) as string }),
  );
});
