import { closeSync, copyFileSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { CLAIMS, ENDINGS, claimedIn } from '../helpers/exercise.js';
import { addProgram, installPackage } from '../helpers/installed-package.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { WINDOWS_NODE_VERSIONS, hasTool, requireTool, windowsNode } from '../helpers/tools.js';
import type { Tool } from '../helpers/tools.js';
import { useWine, windowsPath } from '../helpers/wine.js';

// The package as its tarball holds it, binary and all, in an executable that is not called
// `node.exe`, as those of Electron and of packaged applications are not.
const tools: readonly Tool[] = ['wine', 'windows-node'];
const PROGRAMS = ['exercise.mjs', 'ending.mjs'] as const;

const temp = useTempDir();
const wine = useWine(
  () => temp.directory('project'),
  () => tools.every(hasTool),
  (directory) => {
    const installed = installPackage(directory);
    for (const name of PROGRAMS) programs.set(name, addProgram(installed, name));
    return dirname(dirname(installed.entry));
  },
);
const programs = new Map<string, string>();

beforeEach((context) => {
  for (const tool of tools) requireTool(context, tool);
});

describe.for(WINDOWS_NODE_VERSIONS)('Node.js %s by another name', (version) => {
  /** The output goes to a file: this Node.js cannot open every pipe of Wine's. */
  async function run(program: (typeof PROGRAMS)[number], ...args: string[]) {
    const executable = join(temp.path, `application-${version}.exe`);
    copyFileSync(windowsNode(version), executable);
    const path = join(temp.directory('output'), 'output.txt');
    const output = openSync(path, 'w');
    const words = [windowsPath(programs.get(program) ?? ''), ...args];
    const child = wine.spawn(executable, words, ['ignore', output, output]);
    closeSync(output);
    const code = await new Promise((resolve) => child.once('exit', resolve));
    return { code, output: readFileSync(path, 'utf8') };
  }

  test('exercises the package', async () => {
    const ended = await run('exercise.mjs', windowsPath(temp.directory('buckets')));
    const claimed = claimedIn(ended.output);
    expect([...claimed].filter(([, outcome]) => outcome !== 'true')).toEqual([]);
    expect([...claimed.keys()], ended.output).toEqual(CLAIMS);
    expect(ended.code).toBe(0);
  });

  test.for(ENDINGS)('%s leaves no lockfile, and the exit code is %d', async ([ending, code]) => {
    const bucket = temp.directory();
    // The lock that it waits for, where it does, is its own.
    const ended = await run('ending.mjs', ending, windowsPath(bucket), windowsPath(bucket));
    expect(ended).toEqual({ code, output: expect.stringMatching(/^held\r?\n/) as string });
    expect(readdirSync(bucket)).toEqual([]);
  });
});
