import { expect, test, vi } from 'vitest';

import { attachReleaseError } from '../lib/release-error.js';

function warningsOf(run: () => void): unknown[] {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  try {
    run();
    return emitted.mock.calls.map(([warning]) => warning);
  } finally {
    emitted.mockRestore();
  }
}

const releaseError = new Error('release');

test('the release error is attached where everyone can see it', () => {
  const bodyError = new Error('body');
  const warnings = warningsOf(() => {
    attachReleaseError(bodyError, releaseError);
  });
  expect(Object.entries(bodyError)).toEqual([['releaseError', releaseError]]);
  expect(warnings).toEqual([]);
});

test.each([
  ['text', 'body'],
  ['undefined', undefined],
  ['a frozen error', Object.freeze(new Error('body'))],
  ['an error that has one already', Object.assign(new Error('body'), { releaseError: 1 })],
])('where it cannot be attached to %s it becomes a warning', (_what, bodyError) => {
  const warnings = warningsOf(() => {
    attachReleaseError(bodyError, releaseError);
  });
  expect(warnings).toEqual([releaseError]);
});

test('an error is not attached to itself', () => {
  const warnings = warningsOf(() => {
    attachReleaseError(releaseError, releaseError);
  });
  expect('releaseError' in releaseError).toBe(false);
  expect(warnings).toEqual([]);
});
