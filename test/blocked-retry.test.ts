import { expect, test } from 'vitest';

import { retryWhileBlocked, retryWhileBlockedSync } from '../lib/blocked-retry.js';

/** Answers blocked so many times, and counts how often it was asked. */
function blockedTimes(times: number) {
  const script = { asked: 0 };
  return {
    script,
    attempt: (): 'blocked' | 'removed' => {
      script.asked += 1;
      return script.asked > times ? 'removed' : 'blocked';
    },
  };
}

const isBlocked = (outcome: string): boolean => outcome === 'blocked';

const faces = {
  async: async (attempt: () => string, retryMs: number) =>
    retryWhileBlocked(attempt(), () => Promise.resolve(attempt()), isBlocked, retryMs),
  sync: (attempt: () => string, retryMs: number) =>
    Promise.resolve(retryWhileBlockedSync(attempt(), attempt, isBlocked, retryMs)),
};

test.for(Object.entries(faces))('%s: tries until it is no longer blocked', async ([, retry]) => {
  const { script, attempt } = blockedTimes(3);
  expect(await retry(attempt, Infinity)).toBe('removed');
  expect(script.asked).toBe(4);
});

test.for(Object.entries(faces))(
  '%s: without a budget there is no further attempt',
  async ([, retry]) => {
    const { script, attempt } = blockedTimes(1);
    expect(await retry(attempt, 0)).toBe('blocked');
    expect(script.asked).toBe(1);
  },
);

test.for(Object.entries(faces))('%s: past its budget it answers blocked', async ([, retry]) => {
  const { script, attempt } = blockedTimes(Infinity);
  const startedAt = performance.now();
  expect(await retry(attempt, 100)).toBe('blocked');
  // A last attempt at the very end; that the pauses are of 20 ms bounds their number.
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(100 - 1);
  expect(script.asked).toBeGreaterThan(1);
  expect(script.asked).toBeLessThanOrEqual(8);
});

test.for(Object.entries(faces))('%s: what an attempt throws ends it', async ([, retry]) => {
  const error = new Error('broken');
  const answer = (async () =>
    retry(() => {
      throw error;
    }, Infinity))();
  await expect(answer).rejects.toBe(error);
});
