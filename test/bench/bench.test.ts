import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

const temp = useTempDir();
const program = join(dirname(fileURLToPath(import.meta.url)), 'run.mjs');

interface Report {
  readonly nanoseconds: Readonly<Record<'disk' | 'tmpfs', Readonly<Record<string, number>>>>;
}

test('the benchmark measures every contender on both file systems', (context) => {
  requireTool(context, 'cc');
  const memory = existsSync('/dev/shm') ? '/dev/shm' : temp.path;
  const args = [
    '--rounds',
    '1',
    '--count',
    '20',
    '--json',
    '--disk',
    temp.path,
    '--memory',
    memory,
  ];
  const output = execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  const { nanoseconds } = JSON.parse(output) as Report;
  for (const cost of [nanoseconds.disk, nanoseconds.tmpfs]) {
    expect(Object.keys(cost)).toHaveLength(8);
    for (const [name, value] of Object.entries(cost)) expect(value, name).toBeGreaterThan(0);
  }
});
