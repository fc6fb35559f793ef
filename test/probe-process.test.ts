import { expect, test } from 'vitest';

import { probeProcess } from '../lib/probe-process.js';
import { useProcesses } from './helpers/processes.js';

const processes = useProcesses();

test('this process and its parent are alive', () => {
  expect(probeProcess(process.pid)).toBe('alive');
  expect(probeProcess(process.ppid)).toBe('alive');
});

test('a process that has ended is gone, reaped or not', async () => {
  expect(probeProcess(await processes.gone())).toBe('gone');
  expect(probeProcess(await processes.zombie())).toBe('gone');
});

test.for([0, -1, 1.5, NaN, Infinity, 2 ** 32])('%d is no PID', (pid) => {
  expect(() => probeProcess(pid)).toThrow(
    expect.objectContaining({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' }) as Error,
  );
});

test.for([undefined, null, '4711', 4711n, {}])('%o is no number', (pid) => {
  expect(() => probeProcess(pid as number)).toThrow(
    expect.objectContaining({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' }) as Error,
  );
});
