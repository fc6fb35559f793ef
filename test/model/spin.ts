import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { TestContext } from 'vitest';

const run = promisify(execFile);
const model = fileURLToPath(new URL('bucket-lock.pml', import.meta.url));

/** What one search may use before it gives up, which counts as not verified. */
const memoryMb = 4096;
const depth = 5_000_000;

/**
 * `full` visits every state depth first. `shortest` goes breadth first, so that the counterexample
 * is as short as can be. `progress` looks for cycles that pass no progress label, and leaves out
 * those in which a process that could go on never does (weak fairness).
 */
export type Search = 'full' | 'shortest' | 'progress';

const searches: Record<Search, { compile: readonly string[]; run: readonly string[] }> = {
  full: { compile: ['-DSAFETY'], run: [`-m${depth}`] },
  shortest: { compile: ['-DSAFETY', '-DBFS'], run: [] },
  progress: { compile: ['-DNP'], run: [`-m${depth}`, '-l', '-f'] },
};

export interface Verdict {
  /** Every reachable state was visited: nothing was cut short or hashed away. */
  complete: boolean;
  errors: number;
  /** The claim that does not hold, where there is one. */
  violated: string | undefined;
  /** The counterexample, a line per step. */
  trace: string[];
  /** Statements of the processes that no execution reaches. */
  unreached: string[];
  /** States, depth, memory and time, for people. */
  cost: string;
}

interface Output {
  stdout: string;
  stderr: string;
}

function numberAfter(output: string, pattern: RegExp): number {
  const found = pattern.exec(output)?.[1];
  if (found === undefined) throw new Error(`no ${pattern.source} in the output:\n${output}`);
  return Number(found);
}

function violatedIn(output: string): string | undefined {
  const assertion = /assertion violated\s+!\((\w+)\)/.exec(output)?.[1];
  if (assertion !== undefined) return assertion;
  return /^pan:\d+: (.+?)(?: \(at depth .*)?$/m.exec(output)?.[1];
}

function unreachedIn(output: string): string[] {
  const section = /^unreached in proctype process\n((?:\t.*\n)*)/m.exec(output)?.[1] ?? '';
  return [...section.matchAll(/state \d+, "(.*)"$/gm)].map((match) => match[1] ?? '');
}

function verdictFrom(output: string): Omit<Verdict, 'trace'> {
  const cutShort =
    /too small|Search not completed|-DMEMLIM bound|out of memory|Bit statespace|hash-compact/i;
  const states = numberAfter(output, /(\S+) states, stored/);
  const seconds = /elapsed time (\S+) seconds/.exec(output)?.[1] ?? '0';
  return {
    complete: /^Full state?space search for:/m.test(output) && !cutShort.test(output),
    errors: numberAfter(output, /errors: (\d+)/),
    violated: violatedIn(output),
    unreached: unreachedIn(output),
    cost:
      `${states.toLocaleString('en')} states, depth ${numberAfter(output, /depth reached (\d+)/)}, ` +
      `${numberAfter(output, /(\S+)\s+total actual memory usage/)} MB, ${seconds} s`,
  };
}

/** Steps are what the model prints, "<process>: <what it does>". */
function stepsIn(replay: string): string[] {
  return replay
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(?:\d: |rm )/.test(line));
}

/**
 * Searches the model, compiled with `-D` for each of `flags`, in `directory`.
 * @throws if a tool cannot be run or its output is not understood.
 */
export async function check(
  flags: readonly string[],
  search: Search,
  directory: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const how = searches[search];
  const options = {
    cwd: directory,
    signal,
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 2 ** 20,
  } as const;
  const tool = (command: string, args: readonly string[]): Promise<Output> =>
    run(command, args, options);

  const defines = flags.map((flag) => `-D${flag}`);
  await tool('spin', [...defines, '-a', model]);
  const limits = [`-DMEMLIM=${memoryMb}`];
  await tool('gcc', ['-O2', '-w', ...how.compile, ...limits, '-o', 'pan', 'pan.c']);
  const { stdout } = await tool('./pan', how.run);

  const verdict = verdictFrom(stdout);
  if (verdict.errors === 0) return { ...verdict, trace: [] };
  const trail = ['-k', 'bucket-lock.pml.trail', '-B', '-T', model];
  const replay = await tool('spin', [...defines, ...trail]);
  return { ...verdict, trace: stepsIn(replay.stdout) };
}

function runs(command: string, argument: string): boolean {
  return spawnSync(command, [argument], { stdio: 'ignore' }).status === 0;
}

/** Skips the test where the model checker is missing. With `CI=true` that is a failure. */
export function requireSpin(context: TestContext): void {
  const missing = [
    ...(runs('spin', '-V') ? [] : ['spin']),
    ...(runs('gcc', '--version') ? [] : ['gcc']),
  ];
  if (missing.length === 0) return;
  const reason = `this machine lacks ${missing.join(' and ')}`;
  if (process.env['CI'] === 'true') throw new Error(`${reason}, which the tests need in CI`);
  context.skip(reason);
}
