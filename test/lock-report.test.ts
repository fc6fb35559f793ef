import { describe, expect, test } from 'vitest';

import { describeHolder, toLockReport, waysOut } from '../lib/lock-report.js';

describe('toLockReport', () => {
  test('absent fields stay absent and the time becomes a date', () => {
    expect(toLockReport({ state: 'free' })).toStrictEqual({ state: 'free' });
    expect(toLockReport({ state: 'held', evidence: 'guard', sinceMs: 0 })).toStrictEqual({
      state: 'held',
      evidence: 'guard',
      since: new Date(0),
    });
  });

  test.each([NaN, Infinity, 1e300])('a time of %d, which is none, is left out', (sinceMs) => {
    expect(toLockReport({ state: 'held', sinceMs })).toStrictEqual({ state: 'held' });
  });
});

describe('describeHolder', () => {
  test('names everything that is known', () => {
    const report = {
      state: 'held',
      evidence: 'guard',
      pid: 4711,
      host: 'alpha',
      label: 'nightly import',
      since: new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678)),
    } as const;
    expect(describeHolder(report)).toBe(
      'held by process 4711 on host "alpha" for "nightly import" since 2026-01-02T03:04:05.678Z: the kernel lock on its lockfile is held',
    );
  });

  test.each([
    [{ state: 'free' }, 'free'],
    [{ state: 'held' }, 'held by an unknown process'],
    [{ state: 'held', thisProcess: true }, 'held by this process'],
    [{ state: 'held', pid: 7, thisProcess: true }, 'held by this process (PID 7)'],
    [{ state: 'held', pid: 7, process: 'gone' }, 'held by process 7, which is gone,'],
    [
      { state: 'held', pid: 7, process: 'reused' },
      'held by process 7, whose PID another process has now,',
    ],
    [
      { state: 'stale', evidence: 'guard-free', pid: 7 },
      'left behind by process 7: the kernel lock on its lockfile is free',
    ],
  ] as const)('%o is %s', (report, text) => {
    expect(describeHolder(report)).toBe(text);
  });

  test("another program's text cannot draw on a terminal or forge a line", () => {
    const label = 'a\nb\u001b[2J\u009b2J\u202e\u2028"';
    expect(describeHolder({ state: 'held', label })).toBe(
      String.raw`held by an unknown process for "a\nb\u001b[2J\u009b2J\u202e\u2028\""`,
    );
  });
});

describe('waysOut', () => {
  test.each(['guard', 'unstamped'] as const)('there is nothing but waiting on %s', (evidence) => {
    expect(waysOut({ state: 'held', evidence, token: 'abc' })).toBe('');
  });

  test('a foreign file system leaves breakLock and trustKernelLocks', () => {
    const text = waysOut({ state: 'held', evidence: 'foreign', token: 'abc' });
    expect(text).toContain('breakLock(bucket, { token: report.token })');
    expect(text).toContain('trustKernelLocks: true');
  });

  test('a PID-only record leaves breakLock alone', () => {
    const text = waysOut({ state: 'held', evidence: 'process-alive', token: 'abc' });
    expect(text).toContain('breakLock(bucket, { token: report.token })');
    expect(text).not.toContain('trustKernelLocks');
  });

  test('a record that cannot be read leaves its permissions', () => {
    expect(waysOut({ state: 'held', evidence: 'unknown' })).toBe(
      'Make sure that this user may read its .lock: the mode option of its holder sets the permissions.',
    );
  });

  test.each(['free', 'stale'] as const)('a lock that is %s needs none', (state) => {
    expect(waysOut({ state, evidence: 'foreign' })).toBe('');
  });
});
