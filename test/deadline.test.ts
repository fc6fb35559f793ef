import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Deadline } from '../lib/deadline.js';

// A month passes here in no time, so the clock is not the real one.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('calls once when the moment has come, and not before', () => {
  const onPassed = vi.fn();
  new Deadline(1_000).arm(onPassed);
  vi.advanceTimersByTime(999);
  expect(onPassed).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onPassed).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(10_000);
  expect(onPassed).toHaveBeenCalledOnce();
});

test('counts from its making, not from when it is armed', () => {
  const onPassed = vi.fn();
  const deadline = new Deadline(1_000);
  vi.advanceTimersByTime(600);
  deadline.arm(onPassed);
  vi.advanceTimersByTime(400);
  expect(onPassed).toHaveBeenCalledOnce();
});

test('lasts longer than the longest timer', () => {
  const onPassed = vi.fn();
  const longest = 2 ** 31 - 1;
  new Deadline(longest * 2 + 10).arm(onPassed);
  vi.advanceTimersByTime(longest * 2 + 9);
  expect(onPassed).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onPassed).toHaveBeenCalledOnce();
});

test('calls at once where the moment has passed', () => {
  const onPassed = vi.fn();
  new Deadline(0).arm(onPassed);
  expect(onPassed).toHaveBeenCalledOnce();
});

test('an endless one needs no timer', () => {
  new Deadline(Infinity).arm(() => undefined);
  expect(vi.getTimerCount()).toBe(0);
});

test('what is called off leaves no timer', () => {
  const onPassed = vi.fn();
  const disarm = new Deadline(1_000).arm(onPassed);
  disarm();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(2_000);
  expect(onPassed).not.toHaveBeenCalled();
});

test('allows slices that end with it, and none so long that a thread could not be ended', () => {
  const deadline = new Deadline(1_020.5);
  expect(deadline.sliceMs).toBe(50);
  vi.advanceTimersByTime(1_000);
  expect(deadline.sliceMs).toBe(21);
  vi.advanceTimersByTime(1_000);
  expect(deadline.sliceMs).toBe(0);
  expect(new Deadline(Infinity).sliceMs).toBe(50);
});
