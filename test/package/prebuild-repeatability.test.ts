import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { prebuilds, sha256Of } from '../helpers/prebuilds.js';
import { packageRoot } from '../helpers/program.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';

/** Longer than the compiler needs to make its C++ library first, on a busy machine. */
const LONGEST_BUILD_MS = 15 * 60_000;

const temp = useTempDir();

async function buildIn(folder: string, target: string): Promise<string> {
  const script = path.join(folder, '.ci', 'cross-build.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, target]);
  return sha256Of(stdout.trim());
}

/** The sources and the build in a folder of another name and depth. */
function copyOfSources(): string {
  const folder = path.join(temp.directory('elsewhere'), 'a longer way', 'down');
  mkdirSync(folder, { recursive: true });
  for (const name of ['.ci', 'native', 'binding.gyp', 'package.json']) {
    cpSync(path.join(packageRoot, name), path.join(folder, name), { recursive: true });
  }
  symlinkSync(path.join(packageRoot, 'node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

// One of each format. What compiles them, and with what, is the same for the others.
test.for(['linux-x64-glibc', 'darwin-arm64', 'win32-x64'])(
  '%s is the same to the byte wherever and whenever it is built',
  { timeout: LONGEST_BUILD_MS },
  async (target, context) => {
    requireTool(context, 'ziglang');
    expect(await buildIn(copyOfSources(), target)).toBe(prebuilds[target]?.sha256);
  },
);
