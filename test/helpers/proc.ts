import { readFileSync, readdirSync } from 'node:fs';

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process went away between two looks.
    return '';
  }
}

/** The children of a process that is still there; none on systems without `/proc`. */
export function childrenOf(pid: number): number[] {
  const list = read(`/proc/${pid}/task/${pid}/children`);
  return list.split(' ').filter(Boolean).map(Number);
}

/** `T` stopped, `Z` zombie, …; empty when there is no such process. */
export function stateOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).charAt(0);
}

/** The id of a thread of the process that is not its main thread. */
export function secondThreadOf(pid: number): number {
  const tid = readdirSync(`/proc/${pid}/task`)
    .map(Number)
    .find((id) => id !== pid);
  if (tid === undefined) throw new Error(`process ${pid} has one thread`);
  return tid;
}

/** The PID of who traces this thread; 0: nobody. */
export function tracerOf(tid: number): number {
  return Number(/^TracerPid:\s*(\d+)/m.exec(read(`/proc/${tid}/status`))?.[1] ?? 0);
}
