import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { packageRoot, program } from '../helpers/program.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';
import { compileProgram, loadAddon } from './harness/compile.mjs';

const temp = useTempDir();
const TURNS = 3;
// Those of a lock, and none by which threads of Node.js wake one another.
const TRACED =
  'openat,close,getpid,getrandom,fcntl,flock,fstat,newfstatat,fstatfs,pwrite64,linkat,unlinkat';

/**
 * The system calls of the last acquire and release of `directory` that `command` makes: their
 * names, flags and results, without descriptors, texts and numbers.
 */
function callsOf(directory: string, command: readonly [string, ...string[]]): string[] {
  const log = join(temp.path, 'trace.log');
  execFileSync('strace', ['-f', '-o', log, '-e', `trace=${TRACED}`, ...command]);
  const lines = readFileSync(log, 'utf8').split('\n');
  const begins = lines.map((line) => line.includes(`openat(AT_FDCWD, "${directory}", `));
  const turn = lines.slice(begins.lastIndexOf(true));
  const descriptor = /= (\d+)$/.exec(turn[0] ?? '')?.[1] ?? 'none';
  const end = turn.findIndex((line) => line.includes(` close(${descriptor})`));
  expect(end, turn.join('\n')).toBeGreaterThan(0);
  return turn.slice(0, end + 1).map(shapeOf);
}

function shapeOf(line: string): string {
  const name = /^\d+ +(\w+)\(/.exec(line)?.[1] ?? line;
  const flags = line.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/\b[A-Z][A-Z_]{3,}\b/g) ?? [];
  return [name, ...flags].join(' ');
}

function bucket(): string {
  const directory = join(temp.path, 'bucket');
  mkdirSync(directory);
  return directory;
}

/** Node.js that acquires and releases, after `opening`, by the expression `turn`. */
function node(opening: string, turn: string): [string, ...string[]] {
  const script = `${opening} for (let i = 0; i < ${TURNS}; i += 1) { ${turn} }`;
  return [process.execPath, '--input-type=module', '-e', script];
}

function bucketlock(directory: string, turn: string): string[] {
  const entry = JSON.stringify(pathToFileURL(program.entry));
  const opening = `const { BucketLock } = await import(${entry});
    const lock = new BucketLock(${JSON.stringify(directory)});`;
  return callsOf(directory, node(opening, turn));
}

test('the C program and the addon make the system calls of an acquire and release', (context) => {
  requireTool(context, 'cc');
  requireTool(context, 'strace');
  const directory = bucket();
  const ours = bucketlock(directory, 'lock.acquireSync().releaseSync();');
  expect(ours.some((call) => call.startsWith('linkat'))).toBe(true);

  expect(bucketlock(directory, 'await (await lock.acquire()).release();')).toEqual(ours);

  const bare = compileProgram(temp.path, 'bare_lockfile');
  expect(callsOf(directory, [bare, directory, '1', String(TURNS), '0'])).toEqual(ours);

  loadAddon(temp.path, 'lockfile_trips');
  const addon = JSON.stringify(join(temp.path, 'lockfile_trips.node'));
  const opening = `import { createRequire } from 'node:module';
    const { open, acquire, release } = createRequire(${JSON.stringify(packageRoot + '/')})(${addon});
    open(${JSON.stringify(directory)});`;
  expect(callsOf(directory, node(opening, 'await acquire(); await release();'))).toEqual(ours);
});
