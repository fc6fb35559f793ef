import { readFileSync, statSync } from 'node:fs';

import { lockfileOf } from './records.js';

/** Who has a kernel lock on a file or directory, and who is blocked in the kernel for it. */
interface Standing {
  readonly holders: readonly number[];
  /** In the order in which the kernel wakes them. */
  readonly blocked: readonly number[];
}

function standingAt(path: string): Standing {
  const inode = statSync(path, { throwIfNoEntry: false })?.ino;
  const holders: number[] = [];
  const blocked: number[] = [];
  for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
    const found = /^\d+:\s+(->)?\s*FLOCK\s+\w+\s+\w+\s+(\d+)\s+[^:]+:[^:]+:(\d+)/.exec(line);
    if (found === null || Number(found[3]) !== inode) continue;
    (found[1] === undefined ? holders : blocked).push(Number(found[2]));
  }
  return { holders, blocked };
}

/** The PIDs of the processes that stand in line for the bucket, in order. */
export function lineOf(bucket: string): readonly number[] {
  const { holders, blocked } = standingAt(bucket);
  return [...holders, ...blocked];
}

/** Whether the process is at the head of the line and blocked until the holder lets go. */
export function isAtHead(bucket: string, pid: number): boolean {
  return lineOf(bucket)[0] === pid && standingAt(lockfileOf(bucket)).blocked.includes(pid);
}
