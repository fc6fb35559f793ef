import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { useRuntimeProject } from '../helpers/runtime-project.js';
import { requireRuntime, runtimes } from '../helpers/runtimes.js';
import { useTempDir } from '../helpers/temp-dir.js';

const temp = useTempDir();
const project = useRuntimeProject(temp, ['respelled.mjs']);

const withPermissions = runtimes.filter(({ name }) => /^Node\.js 2[46]$/.test(name));

function spelledTwice(): [bucket: string, link: string] {
  const bucket = temp.directory();
  const link = join(temp.directory('links'), 'link');
  symlinkSync(bucket, link);
  return [bucket, link];
}

describe.for(withPermissions)('the permission model of $name', (runtime) => {
  function allowing(...flags: string[]) {
    const read = `--allow-fs-read=${project.directory}`;
    return { ...runtime, flags: ['--no-warnings', '--permission', read, ...flags] };
  }

  test('leave for addons and to read the project is enough; a re-entry by a link goes unnoticed', async (context) => {
    requireRuntime(context, runtime);
    const [bucket, link] = spelledTwice();
    const ended = await project.run(allowing('--allow-addons'), 'respelled.mjs', bucket, link);
    expect(ended).toEqual({ code: 0, output: 'held\nBucketBusyError\n' });
    expect(readdirSync(bucket)).toEqual([]);
  });

  test('with leave to read the bucket a re-entry by a link is told', async (context) => {
    requireRuntime(context, runtime);
    const [bucket, link] = spelledTwice();
    const all = allowing('--allow-addons', `--allow-fs-read=${bucket}`, `--allow-fs-read=${link}`);
    const ended = await project.run(all, 'respelled.mjs', bucket, link);
    expect(ended).toEqual({ code: 0, output: 'held\nLockReentryError\n' });
  });

  test('without leave for addons the first use of a lock throws LockAddonError', async (context) => {
    requireRuntime(context, runtime);
    const [bucket, link] = spelledTwice();
    const ended = await project.run(allowing(), 'respelled.mjs', bucket, link);
    expect(ended).toEqual({ code: 0, output: 'LockAddonError: ERR_DLOPEN_DISABLED\n' });
    expect(readdirSync(bucket)).toEqual([]);
  });
});
