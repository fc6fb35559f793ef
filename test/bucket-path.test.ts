import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { realDirectory, realDirectorySync, resolveBucket } from '../lib/bucket-path.js';
import { isBucketValidationError } from '../lib/error-guards.js';
import { useTempDir } from './helpers/temp-dir.js';

const temp = useTempDir();

test('a path and its file: URL are the same absolute bucket', () => {
  const expected = { directory: join(process.cwd(), 'a b'), bucketId: 'a b' };
  expect(resolveBucket('a b')).toEqual(expected);
  expect(resolveBucket('./x/../a b/')).toEqual(expected);
  expect(resolveBucket(pathToFileURL('a b'))).toEqual(expected);
});

test.each([undefined, null, 7, {}, ['a']])('%o is no bucket argument', (bucket) => {
  expect(() => resolveBucket(bucket)).toThrow(
    expect.objectContaining({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' }) as Error,
  );
});

test.each(['file:///srv/orders', 'file:/srv/orders', 'FILE://host/orders'])(
  'the string %o is refused: as a path it would be a relative one',
  (bucket) => {
    expect(() => resolveBucket(bucket)).toThrow(
      expect.objectContaining({
        name: 'TypeError',
        code: 'ERR_INVALID_ARG_VALUE',
        message: expect.stringContaining('passed as new URL(...)') as string,
      }) as Error,
    );
  },
);

test.each(['file:', 'file:orders', './file:/orders', 'files/orders'])('%o is a path', (bucket) => {
  expect(resolveBucket(bucket).directory).toBe(resolve(bucket));
});

test('a URL that is no file is refused as Node.js does', () => {
  expect(() => resolveBucket(new URL('https://example.org/a'))).toThrow(
    expect.objectContaining({ name: 'TypeError', code: 'ERR_INVALID_URL_SCHEME' }) as Error,
  );
});

test.each(['', 'a\0b', '/', '/a/..', pathToFileURL('/a\0b')])('%o can name no bucket', (bucket) => {
  let thrown: unknown;
  try {
    resolveBucket(bucket);
  } catch (error) {
    thrown = error;
  }
  expect(isBucketValidationError(thrown)).toBe(true);
  expect(thrown).toMatchObject({ reason: 'bucket_id_invalid' });
  expect((thrown as Error).message).not.toContain('\0');
});

test('a symlink is another spelling, and a missing directory is as it is written', async () => {
  const directory = temp.directory();
  const link = join(temp.path, 'link');
  symlinkSync(directory, link);
  mkdirSync(join(directory, 'inner'));
  const inner = realpathSync(join(directory, 'inner'));
  expect(realDirectorySync(join(link, 'inner'))).toBe(inner);
  expect(await realDirectory(join(link, 'inner'))).toBe(inner);
  const missing = join(temp.path, 'missing');
  expect(realDirectorySync(missing)).toBe(missing);
  expect(await realDirectory(missing)).toBe(missing);
});
