import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { audit } from './demo/audit.mjs';
import { childrenOf, stateOf } from './helpers/proc.js';
import { packageRoot, program } from './helpers/program.js';
import { killNow, onExit } from './helpers/reaper.js';
import { useTempDir } from './helpers/temp-dir.js';
import { until } from './helpers/until.js';

const temp = useTempDir();
const running = new Set<ChildProcess>();

function killRunning(): void {
  for (const { pid } of running) if (pid !== undefined) killNow(pid);
}
onExit(killRunning);
afterEach(killRunning);

interface Demo {
  /** Where it makes its temporary directory. */
  readonly directory: string;
  readonly pid: number;
  readonly output: () => string;
  readonly exitCode: Promise<number | null>;
}

/** In a process group of its own, as a terminal starts it. */
function startDemo(...args: string[]): Demo {
  return startDemoIn(path.join(packageRoot, 'test'), args);
}

function startDemoIn(folder: string, args: readonly string[]): Demo {
  const directory = temp.directory('demo');
  const outputPath = path.join(temp.directory('output'), 'output.txt');
  const output = openSync(outputPath, 'w');
  const child = spawn(program.node, [path.join(folder, 'demo', 'run.mjs'), ...args], {
    env: { ...process.env, TMPDIR: directory, TEMP: directory, TMP: directory },
    stdio: ['ignore', output, output],
    detached: true,
  });
  closeSync(output);
  if (child.pid === undefined) throw new Error('the demonstration did not start');
  running.add(child);
  const exitCode = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  return { directory, pid: child.pid, output: () => readFileSync(outputPath, 'utf8'), exitCode };
}

/** The first number that the summary gives for a fact. */
function fact(output: string, name: string): number {
  const found = new RegExp(`^ {2}${name} +(\\d+)`, 'm').exec(output);
  if (found?.[1] === undefined) throw new Error(`the summary says nothing of ${name}:\n${output}`);
  return Number(found[1]);
}

describe('the demonstration', () => {
  it('kills holders, proves that nobody held beside another, and cleans up', async () => {
    const demo = startDemo('--workers', '4', '--seconds', '3', '--kill-every', '300');
    const exitCode = await demo.exitCode;
    const output = demo.output();

    expect(output).toContain('Proven: no two workers held the lock at once');
    expect(exitCode).toBe(0);
    expect(fact(output, 'turns finished')).toBeGreaterThan(0);
    expect(fact(output, 'hand-overs')).toBeGreaterThan(0);
    expect(fact(output, 'workers killed')).toBeGreaterThan(0);
    expect(fact(output, 'counter')).toBeGreaterThanOrEqual(fact(output, 'turns finished'));
    expect(readdirSync(demo.directory)).toEqual([]);
  });

  it('writes plain lines where there is no terminal', async () => {
    const demo = startDemo('--workers', '2', '--seconds', '1');
    await demo.exitCode;

    expect(demo.output()).toMatch(/^ {2}0 s {2}holder .* turns 0 {2}hand-overs 0 {2}kills 0$/m);
    expect(demo.output()).not.toContain('\u001b');
  });

  it('stops at Ctrl+C with the summary, and leaves no process and no file', async () => {
    const demo = startDemo('--workers', '3', '--seconds', '600', '--kill-every', '600000');
    await until('the workers take turns', () => / turns [1-9]/.test(demo.output()));
    const workers = childrenOf(demo.pid);
    // A terminal sends it to every process of the group.
    process.kill(-demo.pid, 'SIGINT');

    expect(await demo.exitCode).toBe(0);
    expect(demo.output()).toContain('Proven: ');
    expect(workers).toHaveLength(3);
    expect(workers.map(stateOf)).toEqual(['', '', '']);
    expect(readdirSync(demo.directory)).toEqual([]);
  });

  it.each([
    ['an unknown option', ['--bogus']],
    ['a missing value', ['--workers']],
    ['a number out of range', ['--workers', '1']],
    ['no number', ['--seconds', 'soon']],
    ['a stray argument', ['stray']],
  ])('answers %s with one line and exit code 64', async (_, args) => {
    const demo = startDemo(...args);

    expect(await demo.exitCode).toBe(64);
    expect(demo.output()).toMatch(/^[^\n]+usage: [^\n]+\n$/);
    expect(readdirSync(demo.directory)).toEqual([]);
  });
});

/** Grants every acquire at once. */
const lockThatLocksNothing = `
  export class BucketLock {
    async acquire() { return { release: async () => true }; }
    async tryAcquire() { return this.acquire(); }
  }
`;

describe('the demonstration of a lock that locks nothing', () => {
  it('ends at once, unproven, and cleans up', async () => {
    const folder = temp.directory('unlocked');
    const fake = path.join(folder, 'node_modules', 'bucketlock');
    cpSync(path.join(packageRoot, 'test', 'demo'), path.join(folder, 'demo'), { recursive: true });
    mkdirSync(fake, { recursive: true });
    writeFileSync(
      path.join(fake, 'package.json'),
      '{"name":"bucketlock","type":"module","exports":"./index.js"}',
    );
    writeFileSync(path.join(fake, 'index.js'), lockThatLocksNothing);
    const demo = startDemoIn(folder, ['--seconds', '600']);

    expect(await demo.exitCode).toBe(1);
    expect(demo.output()).toContain('NOT PROVEN:');
    expect(demo.output()).toMatch(/worker \d+ began beside worker \d+/);
    expect(readdirSync(demo.directory)).toEqual([]);
  });
});

describe('the audit', () => {
  const nobody = new Map<number, number>();

  it('accepts turns one after the other', () => {
    const journal = 'begin 1 0 10\nend 1\nbegin 2 1 20\nend 2\nbegin 2 2 30\nend 2\n';
    const result = audit(journal, 3, nobody);
    expect(result.violations).toEqual([]);
    expect(result).toMatchObject({ finished: 3, cut: 0, handOvers: 1, recoveries: [] });
  });

  it('accepts a turn cut short by a kill before the next began, counted or not', () => {
    const kills = new Map([[1, 15]]);
    const after = 'left 2\nend 2\n';
    expect(audit(`begin 1 0 10\nbegin 2 0 20\n${after}`, 1, kills)).toMatchObject({
      violations: [],
      cut: 1,
      cutCounted: 0,
      recoveries: [5],
    });
    expect(audit(`begin 1 0 10\nbegin 2 1 20\n${after}`, 2, kills)).toMatchObject({
      violations: [],
      cut: 1,
      cutCounted: 1,
    });
  });

  it('accepts a last turn cut short', () => {
    expect(audit('begin 1 0 10\n', 0, new Map([[1, 15]])).violations).toEqual([]);
    expect(audit('begin 1 0 10\n', 1, new Map([[1, 15]])).violations).toEqual([]);
  });

  it.each([
    ['a turn inside another', 'begin 1 0 10\nbegin 2 0 20\nend 2\nend 1\n', 1, nobody],
    [
      'a turn begun before its predecessor was killed',
      'begin 1 0 10\nbegin 2 0 20\nend 2\n',
      1,
      new Map([[1, 25]]),
    ],
    [
      'a turn that a killed worker still ended',
      'begin 1 0 10\nbegin 2 0 20\nend 1\n',
      1,
      new Map([[1, 15]]),
    ],
    ['a turn that the next did not count', 'begin 1 0 10\nend 1\nbegin 2 0 20\nend 2\n', 1, nobody],
    ['a turn that the counter lost', 'begin 1 0 10\nend 1\nbegin 2 1 20\nend 2\n', 1, nobody],
    ['a turn counted twice', 'begin 1 0 10\nend 1\n', 2, nobody],
    [
      'a sentinel that a living worker left',
      'begin 1 0 10\nend 1\nbegin 2 1 20\nleft 2\nend 2\n',
      2,
      nobody,
    ],
    ['a turn without an end or a kill', 'begin 1 0 10\n', 0, nobody],
    ['a line of no meaning', 'begin 1 0 10\nend 1\ngarbage\n', 1, nobody],
  ])('refuses %s', (_, journal, counter, kills) => {
    expect(audit(journal, counter, kills).violations).not.toEqual([]);
  });
});
