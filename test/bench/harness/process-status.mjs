import { readFileSync, readdirSync } from 'node:fs';

/** Nanoseconds that all threads of a process have run, in user and kernel mode together. */
export function cpuNanoseconds(pid) {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(
      readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0],
    );
  }
  return nanoseconds;
}

/** Bytes of memory that a process has resident. */
export function residentBytes(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)[1]) * 1024;
}
