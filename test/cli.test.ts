import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { readDuration } from '../lib/cli-usage.js';
import { BucketLock } from '../lib/bucket-lock.js';
import { useDriver } from './helpers/driver.js';
import { isAtHead } from './helpers/kernel-line.js';
import { packageRoot, program } from './helpers/program.js';
import { leaveDeadRecord, lockfileOf, readRecord } from './helpers/records.js';
import { useScripts } from './helpers/script.js';
import type { RunningScript } from './helpers/script.js';
import { useTempDir } from './helpers/temp-dir.js';
import { requireTool } from './helpers/tools.js';
import { until } from './helpers/until.js';

const temp = useTempDir();
const driver = useDriver();
const scripts = useScripts(temp);

const CLI = join(packageRoot, 'dist', 'cli.js');

function start(...args: string[]): RunningScript {
  return scripts.startProgram([program.node, CLI, ...args]);
}

async function run(...args: string[]): Promise<[code: number | null, output: string]> {
  const { code, output } = await start(...args).ended;
  return [code, output];
}

/** The lock of a new bucket, held by this process until the test is done with it. */
async function heldBucket(label?: string) {
  const lock = new BucketLock(temp.directory());
  return {
    bucket: lock.path,
    held: await lock.acquire({ ...(label === undefined ? {} : { label }) }),
  };
}

test('run holds the lock while the command runs, with its label, and then no longer', async () => {
  const bucket = temp.directory();
  const [code, output] = await run(
    'run',
    '--label',
    'nightly',
    bucket,
    '--',
    'cat',
    lockfileOf(bucket),
  );
  expect(code).toBe(0);
  expect(output).toContain('"label":"nightly"');
  expect(existsSync(lockfileOf(bucket))).toBe(false);
});

test("run exits as its command does and passes the command's own options through", async () => {
  const bucket = temp.directory();
  expect(
    await run('run', bucket, '--', 'sh', '-c', 'echo "$@"; exit 3', '-', '--help', '--', 'x'),
  ).toEqual([3, '--help -- x\n']);
  expect(existsSync(lockfileOf(bucket))).toBe(false);
});

test('run exits with 128+n where signal n killed its command', async () => {
  const [code, output] = await run('run', temp.directory(), '--', 'sh', '-c', 'kill -KILL $$');
  expect([code, output]).toEqual([128 + 9, '']);
});

test('run of a command that is not there exits with 127, and with 126 if it cannot be run', async () => {
  const bucket = temp.directory();
  const file = join(temp.directory(), 'text');
  writeFileSync(file, 'no program', { mode: 0o644 });
  const [missing, why] = await run('run', bucket, '--', `${file}-missing`);
  expect(missing).toBe(127);
  expect(why).toBe(`bucketlock: "${file}-missing": spawn ${file}-missing ENOENT\n`);
  expect((await run('run', bucket, '--', file))[0]).toBe(126);
  expect(existsSync(lockfileOf(bucket))).toBe(false);
});

test.for(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const)(
  'run passes %s on to its command, and holds the lock until the command has ended',
  async (signal) => {
    const bucket = temp.directory();
    const name = signal.slice(3);
    const command = `trap 'echo got ${name}; cat "$1" >/dev/null && echo held; exit 5' ${name}; echo ready; while :; do sleep 0.05; done`;
    const running = start('run', bucket, '--', 'sh', '-c', command, '-', lockfileOf(bucket));
    await running.says('ready');
    running.signal(signal);
    const { code, output } = await running.ended;
    expect(output).toBe(`ready\ngot ${name}\nheld\n`);
    expect(code).toBe(5);
    expect(existsSync(lockfileOf(bucket))).toBe(false);
  },
);

test('run exits with 75 and one line that names the holder when the lock is busy', async () => {
  const { bucket, held } = await heldBucket('something else');
  const since = new Date(readRecord(bucket).since).toISOString();
  const [code, output] = await run('run', '--wait', '0', bucket, '--', 'echo', 'ran');
  expect(code).toBe(75);
  const line = `bucketlock: ${bucket}: held by process ${process.pid} on host "${hostname()}" for "something else" since ${since}: the kernel lock on its lockfile is held`;
  expect(output).toBe(`${line}\n`);
  // Where stderr is no terminal, all that a wait prints.
  const [later, gaveUp] = await run('run', '--wait', '100ms', bucket, '--', 'echo', 'ran');
  expect(later).toBe(75);
  expect(gaveUp.replace(/\d+ ms\n$/, '')).toBe(`${line}; gave up after `);
  await held.release();
});

test('run names break where a dead holder cannot be told from a living one', async () => {
  const bucket = temp.directory();
  writeFileSync(lockfileOf(bucket), `${process.pid}\n`);
  const [code, output] = await run('run', '--wait', '0', bucket, '--', 'echo', 'ran');
  expect(code).toBe(75);
  expect(output.replace(/ since [^ ]+Z/, '')).toBe(
    `bucketlock: ${bucket}: held by process ${process.pid}: its record is a PID only, and that process is alive; see bucketlock break if that holder is known to be gone\n`,
  );
});

test('run --wait forever runs its command once the lock is free', async () => {
  const { bucket, held } = await heldBucket();
  const waiting = start('run', '--wait', 'forever', bucket, '--', 'echo', 'ran');
  await held.release();
  expect(await waiting.ended).toMatchObject({ code: 0, output: 'ran\n' });
});

test('a signal ends run while it waits, and it leaves nothing', async (context) => {
  requireTool(context, 'script');
  const { bucket, held } = await heldBucket();
  const line = terminal(bucket, 'echo ran');
  await line.says('waiting for');
  await line.kill('SIGTERM');
  expect(line.output).not.toContain('ran');
  expect(await held.release()).toBe(true);
});

test('SIGUSR1 ends run while it waits, too', async () => {
  const { bucket, held } = await heldBucket();
  const waiting = start('run', '--wait', '60s', bucket, '--', 'echo', 'ran');
  await until('it waits', () => isAtHead(bucket, waiting.pid) || undefined);
  waiting.signal('SIGUSR1');
  expect(await waiting.ended).toMatchObject({ code: null, signal: 'SIGUSR1', output: '' });
  expect(await held.release()).toBe(true);
});

/** `run` on a terminal of its own. */
function terminal(bucket: string, command: string) {
  const pidFile = join(temp.directory(), 'pid');
  const cli = `stty cols 500; echo $$ > ${pidFile}; exec ${program.node} ${CLI} run --wait 60s ${bucket} -- ${command}`;
  const script = scripts.startProgram(['script', '-qfec', cli, '/dev/null']);
  return {
    says: (text: string) => script.says(text),
    ended: script.ended,
    get output() {
      return script.output;
    },
    async kill(signal: NodeJS.Signals) {
      process.kill(Number(readFileSync(pidFile, 'utf8')), signal);
      await script.ended;
    },
  };
}

test('on a terminal run says whom it waits for, since when and why, and clears that', async (context) => {
  requireTool(context, 'script');
  const { bucket, held } = await heldBucket('first');
  const line = terminal(bucket, 'echo ran');
  const since = new Date(readRecord(bucket).since).toISOString();
  await line.says('waiting for');
  expect(line.output).toContain(`waiting for ${bucket}: held by process ${process.pid}`);
  expect(line.output).toContain(
    `for "first" since ${since}: the kernel lock on its lockfile is held`,
  );
  await held.release();
  await line.ended;
  expect(line.output.endsWith('\r\u001b[Kran\r\n')).toBe(true);
});

test('on a terminal run that has nothing to wait for says nothing', async (context) => {
  requireTool(context, 'script');
  const line = terminal(temp.directory(), 'echo ran');
  await line.ended;
  expect(line.output).toBe('ran\r\n');
});

test('a lock that is lost while the command runs is told at once; the command goes on', async () => {
  const bucket = temp.directory();
  const running = start(
    'run',
    bucket,
    '--',
    'sh',
    '-c',
    'echo ready; until [ -e "$1" ]; do sleep 0.05; done; echo done',
    '-',
    join(bucket, 'go'),
  );
  await running.says('ready');
  rmSync(lockfileOf(bucket));
  await running.says('the command goes on');
  writeFileSync(join(bucket, 'go'), '');
  const { code, output } = await running.ended;
  expect(output).toBe(
    `ready\nbucketlock: The bucket lock on '${bucket}' is no longer ours: its lockfile has been removed; the command goes on\ndone\n`,
  );
  expect(code).toBe(76);
});

test('a loss that only the release finds is told too, and a status of the command wins', async () => {
  const bucket = temp.directory();
  const lose = `rm '${lockfileOf(bucket)}'`;
  const [code, output] = await run('run', bucket, '--', 'sh', '-c', lose);
  expect(code).toBe(76);
  expect(output).toBe(
    `bucketlock: The bucket lock on '${bucket}' is no longer ours: its lockfile has been removed\n`,
  );
  expect((await run('run', bucket, '--', 'sh', '-c', `${lose}; exit 3`))[0]).toBe(3);
});

test('a run that is killed costs the next one no wait', async () => {
  const bucket = temp.directory();
  const running = start('run', bucket, '--', 'sh', '-c', 'echo ready; exec sleep 60');
  await running.says('ready');
  running.signal('SIGKILL');
  await running.ended;
  expect(await run('run', '--wait', '0', bucket, '--', 'echo', 'ran')).toEqual([0, 'ran\n']);
});

test('inspect says who holds it, and a free lock is free', async () => {
  const { bucket, held } = await heldBucket('something');
  const [code, output] = await run('inspect', bucket);
  const [first, second] = output.split('\n');
  expect(code).toBe(0);
  expect(first).toContain(`${bucket}: held by process ${process.pid}`);
  expect(first).toContain('for "something" since');
  expect(second).toBe(`token: ${held.token}`);
  await held.release();
  expect(await run('inspect', bucket)).toEqual([0, `${bucket}: free\n`]);
});

test('inspect --json prints the report as one line', async () => {
  const { bucket, held } = await heldBucket('something');
  const { since, token, pid } = readRecord(bucket);
  const [code, output] = await run('inspect', '--json', bucket);
  expect(code).toBe(0);
  expect(output).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(output)).toMatchObject({
    path: bucket,
    state: 'held',
    evidence: 'guard',
    process: 'alive',
    thisProcess: false,
    label: 'something',
    since: new Date(since).toISOString(),
    pid,
    token,
  });
  await held.release();
});

test('break removes the record of its token, and no other', async () => {
  const bucket = temp.directory();
  const { token } = await leaveDeadRecord(driver, bucket);
  const [kept, why] = await run(
    'break',
    bucket,
    '--token',
    token.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
  );
  expect(kept).toBe(75);
  expect(why).toContain('not removed');
  expect(existsSync(lockfileOf(bucket))).toBe(true);
  expect(await run('break', bucket, '--token', token)).toEqual([
    0,
    `${bucket}: that record is gone\n`,
  ]);
  expect(existsSync(lockfileOf(bucket))).toBe(false);
});

test('a directory that is not there is free, has no record to break, and is not made', async () => {
  const missing = join(temp.directory(), 'missing');
  expect(await run('inspect', missing)).toEqual([0, `${missing}: free\n`]);
  expect(await run('break', missing, '--token', '0'.repeat(32))).toEqual([
    0,
    `${missing}: that record is gone\n`,
  ]);
  expect(existsSync(missing)).toBe(false);
});

test('break never removes the record of a living holder', async () => {
  const { bucket, held } = await heldBucket();
  expect((await run('break', bucket, '--token', held.token))[0]).toBe(75);
  expect(await held.release()).toBe(true);
});

test.for([
  [],
  ['frobnicate'],
  ['run'],
  ['run', 'bucket'],
  ['run', 'bucket', '--'],
  ['run', '--', 'true'],
  ['run', 'bucket', 'other', '--', 'true'],
  ['run', '--wait', '3', 'bucket', '--', 'true'],
  ['run', '--wait', '-3s', 'bucket', '--', 'true'],
  ['run', '--wait', 'bucket', '--', 'true'],
  ['run', '--frobnicate', 'bucket', '--', 'true'],
  ['run', '--label', 'x'.repeat(1_025), 'bucket', '--', 'true'],
  ['inspect'],
  ['inspect', 'a', 'b'],
  ['inspect', '--token', 'a', 'b'],
  ['break', 'bucket'],
  ['break', 'bucket', '--token', ''],
  ['two\nlines'],
])('%j is wrong usage: one line, and 64', async (args) => {
  const [code, output] = await run(...args);
  expect(code).toBe(64);
  expect(output).toMatch(/^bucketlock: [^\n]+ \(see bucketlock --help\)\n$/);
  expect(existsSync('bucket')).toBe(false);
});

test('a failure of the lock is told in one line, with 71', async () => {
  const bucket = join(temp.directory(), 'no', 'such', 'parent');
  const [code, output] = await run('run', bucket, '--', 'echo', 'ran');
  expect(code).toBe(71);
  expect(output).toBe(
    `bucketlock: Cannot acquire the bucket lock on '${bucket}': ENOENT: no such file or directory, mkdir '${bucket}'; its parent directory must exist\n`,
  );
  const file = join(temp.directory(), 'file');
  writeFileSync(file, '');
  expect((await run('inspect', file))[0]).toBe(71);
});

test.for([['inspect', '.'], ['--help'], ['--version'], ['break', '.', '--token', '0'.repeat(32)]])(
  'output of %j that cannot be written is told in one line, with 74',
  async (args) => {
    const onto = ['sh', '-c', 'cd "$0" && exec "$@" >/dev/full', temp.directory()];
    const { code, output } = await scripts.startProgram([...onto, program.node, CLI, ...args])
      .ended;
    expect(code).toBe(74);
    expect(output).toMatch(/^bucketlock: cannot write the output: ENOSPC[^\n]*\n$/);
  },
);

test('run that can tell nobody of a loss still exits as it should', async () => {
  const bucket = temp.directory();
  const lose = ['sh', '-c', 'rm "$0"; echo done', lockfileOf(bucket)];
  const onto = ['sh', '-c', 'exec "$@" 2>/dev/full', '-'];
  const { code, output } = await scripts.startProgram([
    ...onto,
    ...[program.node, CLI, 'run', bucket, '--', ...lose],
  ]).ended;
  expect([code, output]).toEqual([76, 'done\n']);
});

test.for([['--wait', '-5'], ['--wait=-5'], ['--wait', '-.5s']])(
  '%j is told to be no duration',
  async (wait) => {
    const [code, output] = await run('run', ...wait, 'bucket', '--', 'true');
    expect(code).toBe(64);
    expect(output).toMatch(/^bucketlock: "-\.?5s?" is no duration: .*5s.*, never negative \(see/);
  },
);

test('--help and --version', async () => {
  const [code, help] = await run('--help');
  expect(code).toBe(0);
  for (const command of ['run', 'inspect', 'break'])
    expect(help).toContain(`bucketlock ${command}`);
  expect(await run('run', '--help', 'bucket', '--', 'true')).toEqual([0, help]);
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(await run('--version')).toEqual([0, `${version}\n`]);
});

test.for([
  ['500ms', 500],
  ['30s', 30_000],
  ['1.5s', 1_500],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['0', 0],
  ['0s', 0],
  ['forever', Infinity],
] as const)('%s is %d milliseconds', ([text, ms]) => {
  expect(readDuration(text)).toBe(ms);
});

test.for(['', '5', 's', '-1s', '1 s', '1d', '1e3s', '.5s', 'Infinity', '1s1s', '1s\n'])(
  '%j is no duration',
  (text) => {
    expect(() => readDuration(text)).toThrow('is no duration');
  },
);
