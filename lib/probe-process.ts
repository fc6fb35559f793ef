import { invalidType, outOfRange } from './argument-errors.js';
import { loadAddon } from './native.js';

const MAX_PID = process.platform === 'win32' ? 2 ** 32 - 1 : 2 ** 31 - 1;

/**
 * Whether there is a process of this PID, as seen from the PID namespace of this one.
 *
 * - `alive`: there is, be it another one than you think: the system uses PIDs again.
 * - `gone`: there is none, or nothing but its exit code is left.
 * - `unknown`: it cannot be told. Take it for alive.
 *
 * @throws TypeError for what is no number; RangeError for a number that is no PID.
 * @example
 * ```ts
 * if (probeProcess(4711) === 'gone') console.log('4711 has ended');
 * ```
 */
export function probeProcess(pid: number): 'alive' | 'gone' | 'unknown' {
  const expected = `an integer from 1 to ${MAX_PID}`;
  if (typeof pid !== 'number') throw invalidType('pid', expected, pid);
  if (!Number.isInteger(pid) || pid < 1 || pid > MAX_PID) throw outOfRange('pid', expected, pid);
  return loadAddon().probeProcess(pid);
}
