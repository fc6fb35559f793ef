import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { useDriver } from '../helpers/driver.js';
import { lockfileOf } from '../helpers/records.js';
import { useTempDir } from '../helpers/temp-dir.js';

const driver = useDriver();
const temp = useTempDir();

/** Both faces must keep every claim below. */
const faces = ['release', 'releaseSync'] as const;

test.for(faces)('%s of a deleted lockfile resolves false', async (release) => {
  const [holder] = await driver.pool(1);
  const bucket = temp.directory();
  const { hold } = await holder.call('acquire', { bucket });
  rmSync(lockfileOf(bucket));
  expect(await holder.call('verify', { hold })).toBe(false);
  expect(await holder.call(release, { hold })).toBe(false);
  expect(readdirSync(bucket)).toEqual([]);
});

test.for(faces)('%s leaves the lock of whoever came after a deletion', async (release) => {
  const [first, second, third] = await driver.pool(3);
  const bucket = temp.directory();
  const { hold } = await first.call('acquire', { bucket });
  rmSync(lockfileOf(bucket));
  const other = await second.call('acquire', { bucket, waitMs: 0 });
  const content = readFileSync(lockfileOf(bucket), 'utf8');

  expect(await first.call(release, { hold })).toBe(false);
  expect(readFileSync(lockfileOf(bucket), 'utf8')).toBe(content);
  expect(await third.call('tryAcquire', { bucket })).toBeNull();
  expect(await second.call('verify', { hold: other.hold })).toBe(true);
  expect(await second.call(release, { hold: other.hold })).toBe(true);
});

test.for(faces)('%s leaves a foreign file that replaced the lockfile', async (release) => {
  const [holder] = await driver.pool(1);
  const bucket = temp.directory();
  const { hold } = await holder.call('acquire', { bucket });
  // Replaced by a copy of the very same record: only the file's identity tells them apart.
  const copy = readFileSync(lockfileOf(bucket));
  const replacement = `${lockfileOf(bucket)}-replacement`;
  writeFileSync(replacement, copy);
  renameSync(replacement, lockfileOf(bucket));

  expect(await holder.call(release, { hold })).toBe(false);
  expect(readFileSync(lockfileOf(bucket))).toEqual(copy);
});

test.for(faces)('%s works after the bucket was renamed', async (release) => {
  const [holder, other] = await driver.pool(2);
  const bucket = temp.directory();
  const renamed = `${bucket}-renamed`;
  const { hold } = await holder.call('acquire', { bucket });
  renameSync(bucket, renamed);
  expect(await other.call('tryAcquire', { bucket: renamed })).toBeNull();

  expect(await holder.call(release, { hold })).toBe(true);
  expect(readdirSync(renamed)).toEqual([]);
  expect(existsSync(bucket)).toBe(false);
  expect(await other.call('tryAcquire', { bucket: renamed })).not.toBeNull();
});

test.for(faces)('%s after a rename leaves a new bucket of the old name alone', async (release) => {
  const [holder, other] = await driver.pool(2);
  const bucket = temp.directory();
  const renamed = `${bucket}-renamed`;
  const { hold } = await holder.call('acquire', { bucket });
  renameSync(bucket, renamed);
  const successor = await other.call('acquire', { bucket, waitMs: 0 });

  expect(await holder.call(release, { hold })).toBe(true);
  expect(await other.call('verify', { hold: successor.hold })).toBe(true);
  expect(readdirSync(bucket)).toEqual(['.lock']);
});

test.for(faces)('a second %s answers the same and releases nobody else', async (release) => {
  const [first, second] = await driver.pool(2);
  const bucket = temp.directory();
  const { hold } = await first.call('acquire', { bucket });
  expect(await first.call(release, { hold })).toBe(true);
  const next = await second.call('acquire', { bucket, waitMs: 0 });
  for (const again of faces) expect(await first.call(again, { hold })).toBe(true);
  expect(await second.call('verify', { hold: next.hold })).toBe(true);
  expect(await first.call('tryAcquire', { bucket })).toBeNull();
});

test('two releases at once release once', async () => {
  const [first, second] = await driver.pool(2);
  const bucket = temp.directory();
  const { hold } = await first.call('acquire', { bucket });
  const answers = await Promise.all([
    first.call('release', { hold }),
    first.call('release', { hold }),
    first.call('releaseSync', { hold }),
  ]);
  expect(answers).toEqual([true, true, true]);
  expect(await second.call('tryAcquire', { bucket })).not.toBeNull();
});
