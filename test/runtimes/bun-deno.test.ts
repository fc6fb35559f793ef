import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { BucketLock } from '../../lib/index.js';
import { useRuntimeProject } from '../helpers/runtime-project.js';
import { bun, deno, requireRuntime } from '../helpers/runtimes.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const project = useRuntimeProject(temp, ['deno.mjs', 'web-worker.mjs', 'web-worker-host.mjs']);

/** What the documentation asks for. */
function withLeastPermissions() {
  const installed = join(project.directory, 'node_modules', 'bucketlock');
  const read = `--allow-read=${installed},${deno.executable[0]}`;
  return { ...deno, flags: ['run', '--no-prompt', `--allow-ffi=${installed}`, read] };
}

describe.for([bun, deno])('$name', (runtime) => {
  test('a Web Worker that is terminated gives back what it held', async (context) => {
    requireRuntime(context, runtime);
    const bucket = temp.directory();
    const ended = await project.run(runtime, 'web-worker-host.mjs', bucket);
    expect(ended).toEqual({ code: 0, output: 'taken over\n' });
    expect(readdirSync(bucket)).toEqual([]);
  });
});

describe('Deno', () => {
  test('few permissions are enough', async (context) => {
    requireRuntime(context, deno);
    const bucket = temp.directory();
    const ended = await project.run(withLeastPermissions(), 'deno.mjs', bucket);
    expect(ended).toEqual({ code: 0, output: 'held\n' });
    expect(readdirSync(bucket)).toEqual([]);
  });

  test('without them the first use of a lock fails', async (context) => {
    requireRuntime(context, deno);
    const bucket = temp.directory();
    const ended = await project.run({ ...deno, flags: ['run', '--no-prompt'] }, 'deno.mjs', bucket);
    expect(ended).toMatchObject({
      code: 1,
      output: expect.stringContaining('--allow-read') as string,
    });
    expect(readdirSync(bucket)).toEqual([]);
  });

  test('Deno.exit leaves a lockfile that keeps nobody out', async (context) => {
    requireRuntime(context, deno);
    const bucket = temp.directory();
    const ended = await project.run(deno, 'deno.mjs', bucket, 'exit');
    expect(ended).toEqual({ code: 5, output: 'held\n' });
    expect(readdirSync(bucket)).toEqual(['.lock']);
    new BucketLock(bucket).acquireSync({ waitMs: 0 }).releaseSync();
    expect(readdirSync(bucket)).toEqual([]);
  });
});
