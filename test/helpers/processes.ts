import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach } from 'vitest';

import { childrenOf, stateOf } from './proc.js';
import { killNow, onExit } from './reaper.js';
import { until } from './until.js';

/** Processes of uncommon states, gone after the test that asked for them. */
export class Processes {
  readonly #started: ChildProcess[] = [];

  /** The PID of a process that has ended and that its parent will not reap. */
  async zombie(): Promise<number> {
    // The shell becomes a program that never waits for children.
    const parent = this.#start('sh', ['-c', 'true & exec sleep 3600']);
    return until('a zombie', () => childrenOf(parent).find((pid) => stateOf(pid) === 'Z'));
  }

  /** The PID of a process whose main thread alone has ended. */
  async zombieLeader(scratch: string): Promise<number> {
    const source = fileURLToPath(new URL('../fixtures/zombie-leader.c', import.meta.url));
    const program = join(scratch, 'zombie-leader');
    execFileSync('cc', ['-pthread', '-o', program, source]);
    const pid = this.#start(program, []);
    await until('a zombie leader', () => stateOf(pid) === 'Z');
    return pid;
  }

  /** A PID that nobody has any more. */
  async gone(): Promise<number> {
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await new Promise((resolve) => child.once('exit', resolve));
    if (child.pid === undefined) throw new Error('the process did not start');
    return child.pid;
  }

  async killAll(): Promise<void> {
    for (const child of this.#started.splice(0)) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.pid !== undefined && killNow(child.pid)) await ended;
    }
  }

  killAllNow(): void {
    for (const { pid } of this.#started) if (pid !== undefined) killNow(pid);
  }

  #start(command: string, args: readonly string[]): number {
    const child = spawn(command, args, { stdio: 'ignore' });
    if (child.pid === undefined) throw new Error(`${command} did not start`);
    this.#started.push(child);
    return child.pid;
  }
}

export function useProcesses(): Processes {
  const processes = new Processes();
  onExit(() => {
    processes.killAllNow();
  });
  afterEach(() => processes.killAll());
  return processes;
}
