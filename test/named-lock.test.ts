import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { isLockBusyError } from '../lib/error-guards.js';
import type { LockReport } from '../lib/lock.js';
import { NamedLocks, namedLock } from '../lib/named-lock.js';
import { mustBlock, mustEnd } from './helpers/must-block.js';
import { reasonOf } from './helpers/reason-of.js';

const reason = new Error('enough');
const FREE: LockReport = { state: 'free' };

let made = 0;

/** A lock that no other test knows. */
function freshLock(options?: Parameters<typeof namedLock>[1]) {
  made += 1;
  return namedLock(`fresh-${made}`, options);
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

test('a lock is held from its acquire until its release', async () => {
  const lock = freshLock();
  expect(await lock.inspect()).toEqual(FREE);
  const before = Date.now();
  const held = await lock.acquire({ label: 'nightly import' });
  expect(held).toMatchObject({ name: lock.name, released: false });
  expect(held.token).toMatch(/^[0-9a-f]{32}$/);
  const report = await lock.inspect();
  expect(report).toEqual({
    state: 'held',
    evidence: 'in-process',
    pid: process.pid,
    process: 'alive',
    thisProcess: true,
    since: report.since,
    label: 'nightly import',
    token: held.token,
  });
  expect(report.since?.getTime()).toBeGreaterThanOrEqual(before);
  expect(report.since?.getTime()).toBeLessThanOrEqual(Date.now());
  expect(await held.release()).toBe(true);
  expect(held.released).toBe(true);
  expect(await lock.inspect()).toEqual(FREE);
});

test('a release is idempotent, and touches nobody who holds the lock after it', async () => {
  const lock = freshLock();
  const first = await lock.acquire();
  const [one, two] = await Promise.all([first.release(), first.release()]);
  expect([one, two, first.releaseSync()]).toEqual([true, true, true]);
  const second = await lock.acquire();
  expect(await first.release()).toBe(true);
  expect(lock.inspectSync()).toMatchObject({ token: second.token });
  expect(second.token).not.toBe(first.token);
  second.releaseSync();
});

test('what is held is ours until it is released, and its signal never aborts', async () => {
  const held = await freshLock().acquire();
  expect([await held.verify(), held.verifySync()]).toEqual([true, true]);
  const { signal } = held;
  await held.release();
  expect([await held.verify(), held.verifySync()]).toEqual([false, false]);
  expect(signal.aborted).toBe(false);
  expect(held.signal).toBe(signal);
});

test('a handle is disposable, both ways', async () => {
  const lock = freshLock();
  (await lock.acquire())[Symbol.dispose]();
  expect(lock.inspectSync()).toEqual(FREE);
  await (await lock.acquire())[Symbol.asyncDispose]();
  expect(lock.inspectSync()).toEqual(FREE);
});

test('a free lock is ours without a turn of the event loop', async () => {
  const lock = freshLock();
  let turned = false;
  setImmediate(() => (turned = true));
  (await lock.acquire()).releaseSync();
  await lock.with(() => undefined);
  expect(await lock.tryAcquire()).not.toBeNull();
  expect(turned).toBe(false);
});

test('all objects for one name are one lock, and other names are others', async () => {
  const held = await namedLock('one').acquire();
  expect(await namedLock('one').tryAcquire()).toBeNull();
  for (const name of ['One', 'one ', ' one', 'on', 'one\0', ':one', '3:one', '\ud800', '\ufffd']) {
    const other = await namedLock(name).tryAcquire();
    expect(other?.name).toBe(name);
    other?.releaseSync();
  }
  held.releaseSync();
});

test('what UTF-8 cannot tell apart is told apart', async () => {
  const names = ['\ud800', '\ud801', '\udc00', '\ufffd'];
  const held = await Promise.all(names.map((name) => namedLock(name).tryAcquire()));
  expect(held.map((hold) => hold?.name)).toEqual(names);
  for (const hold of held) hold?.releaseSync();
});

test('scopes keep names apart, however scope and name are cut', () => {
  const locks = [
    namedLock('ab'),
    namedLock('a:b'),
    namedLock('1:ab'),
    namedLock(':ab'),
    new NamedLocks('a').lock('b'),
    new NamedLocks('b').lock('a'),
    new NamedLocks('ab').lock('ab'),
    new NamedLocks('a:').lock('b'),
    new NamedLocks('1:a').lock('b'),
    new NamedLocks('a').lock('b:c'),
    new NamedLocks('a:b').lock('c'),
  ];
  const held = locks.map((lock) => lock.tryAcquireSync());
  expect(held).not.toContain(null);
  expect(new NamedLocks('a').lock('b').tryAcquireSync()).toBeNull();
  for (const hold of held) hold?.releaseSync();
});

test('a lock knows its name and scope', () => {
  expect(namedLock('n')).toMatchObject({ name: 'n', scope: undefined });
  expect(new NamedLocks('s').scope).toBe('s');
  expect(new NamedLocks('s').lock('n')).toMatchObject({ name: 'n', scope: 's' });
});

test.for([
  [undefined, 'TypeError', 'ERR_INVALID_ARG_TYPE'],
  [7, 'TypeError', 'ERR_INVALID_ARG_TYPE'],
  [Symbol('s'), 'TypeError', 'ERR_INVALID_ARG_TYPE'],
  ['', 'TypeError', 'ERR_INVALID_ARG_VALUE'],
  ['n'.repeat(1025), 'RangeError', 'ERR_OUT_OF_RANGE'],
] as const)('%o is no name and no scope: %s', ([value, name, code]) => {
  const unusable = expect.objectContaining({ name, code }) as Error;
  expect(() => namedLock(value as string)).toThrow(unusable);
  expect(() => new NamedLocks(value as string)).toThrow(unusable);
  expect(() => new NamedLocks('s').lock(value as string)).toThrow(unusable);
});

test('the longest name is one', () => {
  const name = 'n'.repeat(1024);
  const held = new NamedLocks(name).lock(name).acquireSync();
  expect(held.name).toBe(name);
  held.releaseSync();
});

test('unusable options are refused where they are given', async () => {
  const typo = { wait: 5 } as object;
  const unusable = expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE' }) as Error;
  expect(() => namedLock('n', typo)).toThrow(unusable);
  expect(() => new NamedLocks('s', typo)).toThrow(unusable);
  const lock = freshLock();
  await expect(lock.acquire(typo)).rejects.toThrow(unusable);
  await expect(lock.tryAcquire(typo)).rejects.toThrow(unusable);
  await expect(lock.with(() => undefined, typo)).rejects.toThrow(unusable);
  expect(() => lock.acquireSync(typo)).toThrow(unusable);
  expect(lock.inspectSync()).toEqual(FREE);
});

test('defaults of the lock, and of all of a scope, count until a call says otherwise', async () => {
  const scoped = new NamedLocks('defaults', { waitMs: 0, label: 'scope' }).lock('n');
  const plain = namedLock('defaults', { waitMs: 0, label: 'lock' });
  for (const [lock, label] of [
    [scoped, 'scope'],
    [plain, 'lock'],
  ] as const) {
    const held = await lock.acquire();
    expect(await reasonOf(lock.acquire())).toMatchObject({ waitedMs: 0, report: { label } });
    const later = lock.acquire({ waitMs: Infinity, label: 'call' });
    held.releaseSync();
    const next = await later;
    expect(lock.inspectSync()).toMatchObject({ label: 'call' });
    next.releaseSync();
  }
});

test('who comes too late learns who holds it', async () => {
  const lock = freshLock();
  const held = await lock.acquire({ label: 'first' });
  const error = await reasonOf(lock.acquire({ waitMs: 0 }));
  expect(isLockBusyError(error)).toBe(true);
  expect(error).toMatchObject({
    name: 'LockBusyError',
    code: 'ERR_LOCK_BUSY',
    lockName: lock.name,
    waitedMs: 0,
    retryable: true,
    report: { state: 'held', pid: process.pid, label: 'first', token: held.token },
  });
  expect(error).not.toHaveProperty('path');
  held.releaseSync();
});

test('the words of a busy error', async () => {
  const lock = new NamedLocks('@acme/\u202eorders').lock("it's\n");
  const held = await lock.acquire({ label: 'nightly import' });
  const since = lock.inspectSync().since?.toISOString() ?? '';
  const words =
    `The named lock 'it's\\n' of '@acme/\\u202eorders' is held by this process (PID ${process.pid}) ` +
    `for "nightly import" since ${since}: it is a thread of this process.`;
  expect(await reasonOf(lock.acquire({ waitMs: 0 }))).toMatchObject({
    message: `${words} Pass waitMs to wait.`,
  });
  const late = await reasonOf(lock.acquire({ waitMs: 20 }));
  const waitedMs = isLockBusyError(late) ? late.waitedMs : NaN;
  expect(waitedMs).toBeGreaterThanOrEqual(20);
  expect(late).toMatchObject({ message: `${words} Gave up after ${waitedMs} ms.` });
  held.releaseSync();
  const plain = freshLock();
  plain.acquireSync();
  expect(await reasonOf(plain.acquire({ waitMs: 0 }))).toMatchObject({
    message: expect.stringMatching(`^The named lock '${plain.name}' is held by`) as string,
  });
});

test('a wait ends with the release, and onWait is told of the holder once', async () => {
  const lock = freshLock();
  const held = await lock.acquire({ label: 'first' });
  const onWait = vi.fn<(holder: LockReport) => void>();
  const ends = await mustBlock('the second acquire', lock.acquire({ onWait }));
  expect(onWait).toHaveBeenCalledExactlyOnceWith(lock.inspectSync());
  held.releaseSync();
  (await ends()).releaseSync();
});

test('onWait that throws rejects the acquire, which then holds and awaits nothing', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const onWait = (): never => {
    throw reason;
  };
  expect(await reasonOf(lock.acquire({ onWait }))).toBe(reason);
  held.releaseSync();
  expect(lock.inspectSync()).toEqual(FREE);
});

test('onWait is not called by who does not wait', async () => {
  const lock = freshLock();
  const onWait = vi.fn();
  const held = await lock.acquire({ onWait });
  expect(await lock.tryAcquire({ onWait })).toBeNull();
  await reasonOf(lock.acquire({ onWait, waitMs: 0 }));
  expect(onWait).not.toHaveBeenCalled();
  held.releaseSync();
});

test('onWait that spends the whole wait, or aborts, ends it', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const end = performance.now() + 5;
  const spend = (): void => {
    while (performance.now() < end) continue;
  };
  expect(await reasonOf(lock.acquire({ waitMs: 1, onWait: spend }))).toMatchObject({
    code: 'ERR_LOCK_BUSY',
  });
  const controller = new AbortController();
  const abort = (): void => {
    controller.abort(reason);
  };
  const aborted = lock.acquire({ signal: controller.signal, onWait: abort });
  expect(await reasonOf(aborted)).toBe(reason);
  held.releaseSync();
  expect(lock.inspectSync()).toEqual(FREE);
});

test('waiters are served in the order of their calls', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const order: number[] = [];
  const waiting = Array.from({ length: 10_000 }, async (_, at) => {
    const mine = await lock.acquire({ waitMs: Infinity });
    order.push(at);
    if (at % 2 === 0) await mine.release();
    else mine.releaseSync();
  });
  held.releaseSync();
  await Promise.all(waiting);
  expect(order).toEqual(waiting.map((_, at) => at));
  expect(lock.inspectSync()).toEqual(FREE);
});

test('nobody gets in between a release and the next in line', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const next = lock.acquire();
  held.releaseSync();
  expect(lock.tryAcquireSync()).toBeNull();
  expect(await reasonOf(lock.acquire({ waitMs: 0 }))).toMatchObject({ code: 'ERR_LOCK_BUSY' });
  (await next).releaseSync();
});

test('a signal that has aborted before keeps even a free lock from being acquired', async () => {
  const lock = freshLock();
  const signal = AbortSignal.abort(reason);
  expect(await reasonOf(lock.acquire({ signal }))).toBe(reason);
  expect(await reasonOf(lock.tryAcquire({ signal }))).toBe(reason);
  expect(() => lock.acquireSync({ signal })).toThrow(reason);
  expect(() => lock.tryAcquireSync({ signal })).toThrow(reason);
  expect(lock.inspectSync()).toEqual(FREE);
});

test('an abort leaves the line at once, and what comes behind moves up', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const controller = new AbortController();
  const { signal } = controller;
  const first = lock.acquire({ signal, waitMs: Infinity });
  const second = lock.acquire({ waitMs: Infinity });
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  controller.abort(reason);
  expect(await reasonOf(first)).toBe(reason);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  held.releaseSync();
  (await mustEnd('the second', second)).releaseSync();
});

test.for(['before', 'after'] as const)(
  'a grant in the same turn, %s an abort, goes to the next',
  async (when) => {
    const lock = freshLock();
    const held = await lock.acquire();
    const controller = new AbortController();
    const first = lock.acquire({ signal: controller.signal, waitMs: Infinity });
    const second = lock.acquire({ waitMs: Infinity });
    if (when === 'before') held.releaseSync();
    controller.abort(reason);
    held.releaseSync();
    expect(await reasonOf(first)).toBe(reason);
    (await mustEnd('the second', second)).releaseSync();
    expect(lock.inspectSync()).toEqual(FREE);
  },
);

test('a deadline leaves the line, and leaves no timer behind', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const before = timers();
  expect(await reasonOf(lock.acquire({ waitMs: 20 }))).toMatchObject({
    code: 'ERR_LOCK_BUSY',
    report: { token: held.token },
  });
  const later = lock.acquire({ waitMs: 3_600_000 });
  expect(timers()).toBe(before + 1);
  held.releaseSync();
  (await later).releaseSync();
  expect(timers()).toBe(before);
});

test('a grant that is in the way when the deadline passes is taken', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const waiting = lock.acquire({ waitMs: 1 });
  const end = performance.now() + 10;
  while (performance.now() < end) continue;
  held.releaseSync();
  (await waiting).releaseSync();
});

test('a handle that was granted to nobody any more is released, though the loop does not turn', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const controller = new AbortController();
  const waiting = reasonOf(lock.acquire({ signal: controller.signal }));
  held.releaseSync();
  controller.abort(reason);
  let turned = false;
  setImmediate(() => (turned = true));
  expect(await waiting).toBe(reason);
  expect(lock.inspectSync()).toEqual(FREE);
  expect(turned).toBe(false);
});

test('however many wait for one signal, it has one listener, and an abort ends them all', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  const controller = new AbortController();
  const { signal } = controller;
  const warned = vi.spyOn(process, 'emitWarning');
  const waiting = Array.from({ length: 50 }, () => reasonOf(lock.acquire({ signal })));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  controller.abort(reason);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([reason]));
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
  held.releaseSync();
});

test('locks of several names do not wait for each other', async () => {
  const locks = Array.from({ length: 100 }, () => freshLock());
  const held = await Promise.all(locks.map((lock) => lock.acquire()));
  const waiting = locks.map((lock) => lock.acquire());
  for (const [at, hold] of [...held.entries()].reverse()) {
    hold.releaseSync();
    (await mustEnd('its waiter', waiting[at] ?? Promise.reject(reason))).releaseSync();
  }
});

test('an acquire by who holds the lock waits until its deadline', async () => {
  const lock = freshLock();
  const held = await lock.acquire();
  expect(await reasonOf(lock.acquire({ waitMs: 20 }))).toMatchObject({ code: 'ERR_LOCK_BUSY' });
  await turn();
  held.releaseSync();
});
