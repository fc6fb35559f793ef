import { expect, test, vi } from 'vitest';

import { ExitRegistry, exitRegistry } from '../lib/exit-registry.js';
import { until } from './helpers/until.js';

/** What `exit` would call now that was not there before. */
function listenersSince(before: readonly unknown[]): (() => void)[] {
  return process
    .listeners('exit')
    .filter((listener) => !before.includes(listener)) as unknown as (() => void)[];
}

test('listens from the first lock held until shortly after the last is released', async () => {
  const before = process.listeners('exit');
  const registry = new ExitRegistry();
  const releaser = vi.fn();
  expect(listenersSince(before)).toHaveLength(0);
  const dropFirst = registry.retain(releaser);
  const dropSecond = registry.retain(releaser);
  const dropOther = registry.retain(vi.fn());
  expect(listenersSince(before)).toHaveLength(1);
  dropFirst();
  dropOther();
  expect(listenersSince(before)).toHaveLength(1);
  dropSecond();
  // What comes and goes at once adds no listener, and keeps none.
  for (let turn = 0; turn < 10; turn += 1) registry.retain(releaser)();
  expect(listenersSince(before)).toHaveLength(1);
  listenersSince(before)[0]?.();
  await until('nobody listens', () => listenersSince(before).length === 0);
  registry.retain(releaser)();
  expect(listenersSince(before)).toHaveLength(1);
  await until('nobody listens', () => listenersSince(before).length === 0);
  expect(releaser).not.toHaveBeenCalled();
});

test('a lock that is held when the listener would leave keeps it', async () => {
  vi.useFakeTimers();
  try {
    const before = process.listeners('exit');
    const registry = new ExitRegistry();
    const releaser = vi.fn();
    registry.retain(releaser)();
    const drop = registry.retain(releaser);
    await vi.runAllTimersAsync();
    expect(listenersSince(before)).toHaveLength(1);
    listenersSince(before)[0]?.();
    expect(releaser).toHaveBeenCalledOnce();
    drop();
    await vi.runAllTimersAsync();
    expect(listenersSince(before)).toHaveLength(0);
  } finally {
    vi.useRealTimers();
  }
});

test('counting the same lock off twice counts once', async () => {
  const before = process.listeners('exit');
  const registry = new ExitRegistry();
  const releaser = vi.fn();
  const dropFirst = registry.retain(releaser);
  const dropSecond = registry.retain(releaser);
  dropFirst();
  dropFirst();
  listenersSince(before)[0]?.();
  expect(releaser).toHaveBeenCalledOnce();
  dropSecond();
  listenersSince(before)[0]?.();
  expect(releaser).toHaveBeenCalledOnce();
  await until('nobody listens', () => listenersSince(before).length === 0);
});

test('at exit every releaser runs once, within one second for all', () => {
  const before = process.listeners('exit');
  const registry = new ExitRegistry();
  const budgets: number[] = [];
  const slow = (budgetMs: number): void => {
    budgets.push(budgetMs);
    const end = performance.now() + 20;
    while (performance.now() < end);
  };
  const quick = (budgetMs: number): void => {
    budgets.push(budgetMs);
  };
  const drops = [registry.retain(slow), registry.retain(slow), registry.retain(quick)];
  listenersSince(before)[0]?.();
  for (const drop of drops) drop();
  expect(budgets).toHaveLength(2);
  expect(budgets[0]).toBeGreaterThan(980);
  expect(budgets[0]).toBeLessThanOrEqual(1_000);
  expect(budgets[1]).toBeLessThanOrEqual((budgets[0] ?? 0) - 20);
});

test('a releaser that throws keeps no other from its turn, and is not passed over', () => {
  const before = process.listeners('exit');
  const registry = new ExitRegistry();
  const cause = new Error('broken');
  const other = vi.fn();
  const drops = [
    registry.retain(() => {
      throw cause;
    }),
    registry.retain(other),
  ];
  expect(() => listenersSince(before)[0]?.()).toThrow(
    expect.objectContaining({ name: 'AggregateError', errors: [cause] }) as Error,
  );
  for (const drop of drops) drop();
  expect(other).toHaveBeenCalledOnce();
});

test('copies of the module in one thread share the registry', async () => {
  vi.resetModules();
  const copy = await import('../lib/exit-registry.js');
  expect(copy.ExitRegistry).not.toBe(ExitRegistry);
  expect(copy.exitRegistry()).toBe(exitRegistry());
});
