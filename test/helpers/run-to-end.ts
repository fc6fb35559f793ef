import { execFile } from 'node:child_process';
import type { ChildProcess, ExecFileException } from 'node:child_process';

import { killNow, onExit } from './reaper.js';

export interface Ended {
  readonly code: number | string;
  /** Of both streams. */
  readonly output: string;
}

export interface RunOptions {
  /** In milliseconds; then it is killed. */
  readonly timeout: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Runs to the end. Whatever happens to the test process, the child does not outlive it. */
export async function runToEnd(
  command: string,
  args: readonly string[],
  options: RunOptions,
): Promise<Ended> {
  let child: ChildProcess | undefined;
  const forget = onExit(() => {
    if (child?.pid !== undefined) killNow(child.pid);
  });
  try {
    return await new Promise((resolve) => {
      const all = { ...options, killSignal: 'SIGKILL' as const, maxBuffer: 1 << 26 };
      const ended = (error: ExecFileException | null, stdout: string, stderr: string) => {
        const code = error === null ? 0 : (error.signal ?? error.code ?? error.message);
        resolve({ code, output: stdout + stderr });
      };
      child = execFile(command, args, all, ended);
    });
  } finally {
    forget();
  }
}
