import { setImmediate as turn } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { liveFrames } from '../lib/named-frames.js';
import { NamedLocks, namedLock } from '../lib/named-lock.js';
import { mustBlock, mustEnd } from './helpers/must-block.js';
import { reasonOf } from './helpers/reason-of.js';

const reentry = expect.objectContaining({
  name: 'LockReentryError',
  code: 'ERR_LOCK_REENTRY',
}) as Error;
const nothing = (): void => undefined;

let made = 0;

function freshLock() {
  made += 1;
  return namedLock(`fresh-with-${made}`);
}

test('with runs its body under the lock and resolves what it returned', async () => {
  const lock = freshLock();
  const result = await lock.with(async (held) => {
    expect(await lock.inspect()).toMatchObject({ state: 'held', token: held.token });
    return 'done';
  });
  expect(result).toBe('done');
  expect(await lock.inspect()).toEqual({ state: 'free' });
  expect(lock.withSync((held) => held.name)).toBe(lock.name);
  expect(await lock.inspect()).toEqual({ state: 'free' });
});

test('with releases and fails with what its body threw, whatever that is', async () => {
  const lock = freshLock();
  for (const thrown of [new Error('body'), 'text', undefined]) {
    const body = (): never => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- other programs do
      throw thrown;
    };
    expect(await reasonOf(lock.with(body))).toBe(thrown);
    expect(await reasonOf(lock.with(() => Promise.reject(thrown as Error)))).toBe(thrown);
    expect(lock.inspectSync()).toEqual({ state: 'free' });
  }
  const error = new Error('body');
  expect(() => {
    lock.withSync(() => {
      throw error;
    });
  }).toThrow(error);
  expect(lock.inspectSync()).toEqual({ state: 'free' });
});

test('a body that is no function, or returns a promise to withSync, is refused', async () => {
  const lock = freshLock();
  const type = { code: 'ERR_INVALID_ARG_TYPE' };
  expect(await reasonOf(lock.with('body' as never))).toMatchObject(type);
  expect(() => {
    lock.withSync('body' as never);
  }).toThrow(expect.objectContaining(type));
  expect(() => lock.withSync(() => Promise.resolve())).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_RETURN_VALUE' }),
  );
  expect(lock.inspectSync()).toEqual({ state: 'free' });
});

test('a body may release by itself', async () => {
  const lock = freshLock();
  expect(await lock.with((held) => held.release())).toBe(true);
  expect(lock.withSync((held) => held.releaseSync())).toBe(true);
});

test('with inside its own with is refused at once, by either face', async () => {
  const lock = freshLock();
  const refusesItself = async (): Promise<void> => {
    for (const inner of [lock, namedLock(lock.name)]) {
      await expect(inner.with(nothing, { waitMs: Infinity })).rejects.toThrow(reentry);
      await expect(inner.with(nothing, { waitMs: 0 })).rejects.toThrow(reentry);
      expect(() => {
        inner.withSync(nothing, { waitMs: Infinity });
      }).toThrow(reentry);
    }
  };
  await lock.with(refusesItself);
  lock.withSync(() => {
    expect(() => {
      lock.withSync(nothing);
    }).toThrow(reentry);
  });
  await freshLock().with(() =>
    lock.with(() =>
      freshLock().with(async () => {
        await turn();
        await refusesItself();
      }),
    ),
  );
});

test('re-entry names the lock, its scope and the ways out', async () => {
  const lock = new NamedLocks('acme').lock('orders');
  const error = await reasonOf(lock.with(() => lock.with(nothing)));
  expect(error).toMatchObject({
    lockName: 'orders',
    message:
      "The named lock 'orders' of 'acme' is held or asked for by the very code that would now wait for it. " +
      'Use the lock that is held, release it first, or pass detached: true for work that its holder does not await',
  });
  expect(error).not.toHaveProperty('path');
});

test('another lock inside, and the same one beside, is no re-entry', async () => {
  const lock = freshLock();
  expect(await lock.with(() => new NamedLocks('other').lock(lock.name).with(() => 'in'))).toBe(
    'in',
  );
  const order: string[] = [];
  const queue = ['a', 'b', 'c'].map((name) =>
    lock.with(async () => {
      await turn();
      order.push(name);
    }),
  );
  await Promise.all(queue);
  expect(order).toEqual(['a', 'b', 'c']);
});

test('another lock inside that somebody else holds is awaited', async () => {
  const other = freshLock();
  const held = await other.acquire();
  const ends = await mustBlock(
    'the inner with',
    freshLock().with(() => other.with(() => 'in')),
  );
  held.releaseSync();
  expect(await ends()).toBe('in');
});

test('what was started inside waits like anybody else once the with is over, or if detached', async () => {
  const lock = freshLock();
  let later: Promise<unknown> = Promise.resolve();
  let detached: Promise<unknown> = Promise.resolve();
  await lock.with(async () => {
    detached = lock.with(nothing, { detached: true });
    later = turn()
      .then(() => turn())
      .then(() => lock.with(nothing));
    await turn();
  });
  await mustEnd('the detached one', detached);
  await mustEnd('the later one', later);
});

test('a body that released is outside, even while somebody else holds the lock', async () => {
  const lock = freshLock();
  const held = await new Promise<Awaited<ReturnType<typeof lock.acquire>>>((resolve) => {
    void lock.with(async (own) => {
      own.releaseSync();
      const other = await lock.acquire();
      const ends = await mustBlock('a with inside', lock.with(nothing));
      resolve(other);
      await ends();
    });
  });
  held.releaseSync();
});

test('a chain of withs that start one another keeps no account of those that are over', async () => {
  const locks = [freshLock(), freshLock()] as const;
  const frames: number[] = [];
  const step = async (left: number): Promise<void> => {
    const lock = locks[left % 2 === 0 ? 0 : 1];
    let next: Promise<void> = Promise.resolve();
    await lock.with(async () => {
      frames.push(liveFrames().length);
      // Begun inside, and over long after.
      next = turn().then(() => (left > 0 ? step(left - 1) : undefined));
      await turn();
    });
    await next;
  };
  await step(20);
  expect(Math.max(...frames)).toBeLessThanOrEqual(2);
});
