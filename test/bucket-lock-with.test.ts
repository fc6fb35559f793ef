import { rmSync } from 'node:fs';

import { expect, test } from 'vitest';

import { BucketLock } from '../lib/bucket-lock.js';
import { reasonOf } from './helpers/reason-of.js';
import { useTempDir } from './helpers/temp-dir.js';

const temp = useTempDir();

test('with runs its body under the lock and resolves what it returned', async () => {
  const lock = new BucketLock(temp.directory());
  const result = await lock.with(async (held) => {
    expect(await lock.inspect()).toMatchObject({ state: 'held', token: held.token });
    return 'done';
  });
  expect(result).toBe('done');
  expect(await lock.inspect()).toEqual({ state: 'free' });
});

test('with releases and rejects with what its body threw, whatever that is', async () => {
  const lock = new BucketLock(temp.directory());
  for (const thrown of [new Error('body'), 'text', undefined, null]) {
    const body = (): never => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- other programs do
      throw thrown;
    };
    expect(await reasonOf(lock.with(body))).toBe(thrown);
    expect(await reasonOf(lock.with(() => Promise.reject(thrown as Error)))).toBe(thrown);
    expect(await lock.inspect()).toEqual({ state: 'free' });
  }
});

test('with rejects as lost if its body succeeded and the lock was lost', async () => {
  const lock = new BucketLock(temp.directory());
  const body = (): void => {
    rmSync(lock.lockPath);
  };
  const reason = await reasonOf(lock.with(body));
  expect(reason).toMatchObject({ code: 'ERR_LOCK_LOST', reason: 'removed', path: lock.path });
});

test('with attaches the loss to what its body threw', async () => {
  const lock = new BucketLock(temp.directory());
  const thrown = new Error('body');
  const body = (): never => {
    rmSync(lock.lockPath);
    throw thrown;
  };
  expect(await reasonOf(lock.with(body))).toBe(thrown);
  expect(thrown).toMatchObject({ releaseError: { code: 'ERR_LOCK_LOST', reason: 'removed' } });
});

test('a body that releases by itself has lost nothing', async () => {
  const lock = new BucketLock(temp.directory());
  expect(await lock.with((held) => held.release())).toBe(true);
  expect(lock.withSync((held) => held.releaseSync())).toBe(true);
});
