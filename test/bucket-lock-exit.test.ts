import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { BucketLock } from '../lib/bucket-lock.js';
import { program } from './helpers/program.js';
import { useTempDir } from './helpers/temp-dir.js';

const temp = useTempDir();

/** Runs a program that has `lock`, in a process of its own, and answers what it printed. */
function run(bucket: string, body: string): string {
  const script = `
    const { BucketLock } = await import(${JSON.stringify(pathToFileURL(program.entry).href)});
    const lock = new BucketLock(${JSON.stringify(bucket)});
    ${body}`;
  const options = { encoding: 'utf8', timeout: 30_000 } as const;
  return execFileSync(program.node, ['--input-type=module', '--eval', script], options).trim();
}

test('a pending wait keeps the process alive, as a pending read does', () => {
  const output = run(
    temp.directory(),
    `const held = await lock.acquire();
    setTimeout(() => void held.release(), 300).unref();
    await (await lock.acquire({ waitMs: Infinity })).release();
    console.log('acquired');`,
  );
  expect(output).toBe('acquired');
});

test('a held lock keeps no process alive, and is gone when it has ended by itself', () => {
  const bucket = temp.directory();
  const output = run(
    bucket,
    `const count = () => ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name));
    const before = count();
    await lock.acquire();
    console.log(count().map((listeners, index) => listeners - before[index]).join());`,
  );
  expect(output).toBe('1,0,0,0');
  expect(existsSync(join(bucket, '.lock'))).toBe(false);
});

test('process.exit releases what is held', () => {
  const bucket = temp.directory();
  run(bucket, `await lock.acquire(); process.exit();`);
  expect(existsSync(join(bucket, '.lock'))).toBe(false);
});

test('process.exit is not held up by a pending wait, which keeps nothing', () => {
  const bucket = temp.directory();
  const output = run(
    bucket,
    `await lock.acquire();
    const onWait = () => setImmediate(() => { console.log('leaving'); process.exit(); });
    await lock.acquire({ waitMs: Infinity, onWait });`,
  );
  expect(output).toBe('leaving');
  new BucketLock(bucket).acquireSync({ waitMs: 0 }).releaseSync();
});
