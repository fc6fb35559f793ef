import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { packageRoot } from '../helpers/program.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';
import { contention } from './harness/contention.mjs';

const temp = useTempDir();
const program = join(packageRoot, 'test', 'bench', 'run.mjs');
const PEERS = ['fs-native-extensions', 'proper-lockfile', 'lockfile', 'cross-process-lock'];
const EVERYBODY = ['bucketlock', 'c', ...PEERS];

type Figures = Readonly<Record<string, unknown>>;

function run(...args: string[]): string {
  const memory = existsSync('/dev/shm') ? '/dev/shm' : temp.path;
  const places = ['--disk', temp.path, '--memory', memory];
  return execFileSync(process.execPath, [program, ...places, ...args], {
    encoding: 'utf8',
    // What it says of its progress belongs to the error, if there is one.
    stdio: 'pipe',
  });
}

/** Every number in there; what a contender cannot do is a text. */
function numbersIn(figures: unknown): number[] {
  if (typeof figures === 'number') return [figures];
  if (figures === null) return [NaN];
  return typeof figures === 'object' ? Object.values(figures).flatMap(numbersIn) : [];
}

test('every part measures every contender, or says why it cannot', (context) => {
  requireTool(context, 'cc');
  const json = join(temp.path, 'results.json');
  const plots = join(temp.path, 'plots');
  const table = run('--quick', '--json', json, '--svg', plots);
  const results = JSON.parse(readFileSync(json, 'utf8')) as Readonly<Record<string, Figures>>;
  const { uncontended, ...others } = results;
  const parts: Readonly<Record<string, Figures | undefined>> = {
    ...others,
    ...(uncontended as Readonly<Record<string, Figures>>),
  };
  for (const part of [
    'disk',
    'tmpfs',
    'handover',
    'waiting',
    'recovery',
    'queue',
    'crowd',
    'abort',
    'import',
  ]) {
    for (const name of EVERYBODY) {
      const figures = parts[part]?.[name];
      expect(figures, `${part} of ${name}`).toBeDefined();
      const cannot = typeof figures === 'object' && figures !== null && 'cannot' in figures;
      const numbers = numbersIn(figures);
      expect(numbers.length > 0, `${part} of ${name}`).toBe(!cannot);
      for (const number of numbers) expect(number, `${part} of ${name}`).toBeGreaterThanOrEqual(0);
    }
  }
  for (const name of EVERYBODY) {
    for (const figures of Object.values(results['contended']?.[name] as Figures)) {
      const { perSecond, longestWait } = figures as Figures;
      for (const number of numbersIn([perSecond, longestWait])) {
        expect(number, `contended of ${name}`).toBeGreaterThanOrEqual(0);
      }
    }
  }
  for (const part of ['disk', 'tmpfs', 'queue', 'abort']) {
    const numbers = numbersIn(parts[part]?.['named-lock']);
    expect(numbers.length, `${part} of named locks`).toBeGreaterThan(0);
    for (const number of numbers) expect(number).toBeGreaterThanOrEqual(0);
  }
  for (const place of ['disk', 'tmpfs']) {
    for (const floor of ['trips', 'callsInTrips']) {
      const numbers = numbersIn(parts[place]?.[floor]);
      expect(numbers.length, `${floor} on ${place}`).toBeGreaterThan(0);
      for (const number of numbers) expect(number).toBeGreaterThan(0);
    }
    expect(table).toContain(`${place}, the C program's calls inside two trips`);
    expect(table).toContain(`${place}: async / the same calls inside two trips`);
  }
  expect(table).toContain('none [1]');
  expect(table).toContain('most served / least served');
  expect(table).not.toMatch(/NaN|undefined/);
  for (const file of readdirSync(plots)) {
    expect(readFileSync(join(plots, file), 'utf8')).toMatch(/^<svg [^]*<\/svg>\n$/);
  }
  expect(readdirSync(plots)).toHaveLength(8);
  // And again from the file, without measuring.
  expect(run('--from', json)).toBe(table);
});

test('contention counts turns, waits and hand-overs', () => {
  // The first holds the lock from 10 to 20 and from 50 to 60; the second, which asked at 12, from 23
  // to 40, and asks again at 41: it gets the lock after the end.
  const first = Float64Array.of(1, 10, 20, 30, 50, 60);
  const second = Float64Array.of(12, 23, 40, 41, 130, 140);
  const { served, perSecond, longestWait, handover } = contention([first, second], 0, 100);
  expect(served).toEqual([2, 1]);
  expect(perSecond).toBe(3e7);
  // From 41 to the end.
  expect(longestWait).toBe(59);
  // From 20 to 23, and from 40 to 50.
  expect(handover).toMatchObject({ count: 2, min: 3, max: 10, median: 6.5 });
});

test('an unknown part is refused', () => {
  expect(() => run('--only', 'nothing')).toThrow('there is no part nothing');
});
