import { readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { BucketLock } from '../../lib/index.js';
import { useRuntimeProject } from '../helpers/runtime-project.js';
import { bun, deno, requireRuntime } from '../helpers/runtimes.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const project = useRuntimeProject(temp, ['deno.mjs', 'web-worker.mjs', 'web-worker-host.mjs']);

/** What the documentation asks for: the executable counts by its real path. */
function leastPermissions() {
  const installed = join(project.directory, 'node_modules', 'bucketlock');
  return {
    ffi: `--allow-ffi=${installed}`,
    read: `--allow-read=${installed},${realpathSync(deno.executable[0])}`,
  };
}

function allowing(...flags: string[]) {
  return { ...deno, flags: ['run', '--no-prompt', ...flags] };
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
    const link = join(temp.directory('links'), 'deno');
    symlinkSync(deno.executable[0], link);
    const { ffi, read } = leastPermissions();
    for (const executable of [deno.executable, [link]] as const) {
      const runtime = { ...allowing(ffi, read), executable };
      const ended = await project.run(runtime, 'deno.mjs', bucket);
      expect(ended).toEqual({ code: 0, output: 'held\n' });
      expect(readdirSync(bucket)).toEqual([]);
    }
  });

  test.for([
    ['all', () => [], /LockAddonError: .*C library/],
    ['--allow-ffi', () => [leastPermissions().read], /LockAddonError: .*Requires ffi access/],
    ['--allow-read', () => [leastPermissions().ffi], /LockAddonError: .*C library/],
    [
      '--allow-read, but for the executable',
      () => [leastPermissions().ffi, `--allow-read=${realpathSync(deno.executable[0])}`],
      /LockAddonError: .*Requires read access/,
    ],
  ] as const)(
    'without %s the first use of a lock throws LockAddonError',
    async ([, flags, told], context) => {
      requireRuntime(context, deno);
      const bucket = temp.directory();
      const ended = await project.run(allowing(...flags()), 'deno.mjs', bucket);
      expect(ended).toMatchObject({ code: 1, output: expect.stringMatching(told) as string });
      expect(readdirSync(bucket)).toEqual([]);
    },
  );

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
