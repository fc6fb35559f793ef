// The pinned compiler, found and run.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { root } from '../node-gyp.mjs';
import { ZIG_VERSION } from './targets.mjs';

const execute = promisify(execFile);

/** Answers the compiler's executable. Its Python package is not asked again for each command. */
export async function findZig() {
  const print = 'import os, ziglang; print(os.path.dirname(ziglang.__file__))';
  const { stdout: folder } = await run(['python3', '-c', print]);
  const zig = path.join(folder.trim(), 'zig');
  const { stdout: version } = await run([zig, 'version']);
  if (version.trim() !== ZIG_VERSION) {
    throw new Error(`ziglang ${ZIG_VERSION} is wanted, and ${version.trim()} is installed`);
  }
  return zig;
}

/** Runs a command in the repository's root and answers what it prints; ends this process where it fails. */
export async function run([command, ...args], env = {}) {
  try {
    return await execute(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      maxBuffer: 1 << 26,
    });
  } catch ({ message, stdout, stderr }) {
    // The command has said what is wrong; more would only push that out of sight.
    console.error(`${command} failed:\n${stdout ?? ''}${stderr || message}`);
    process.exit(1);
  }
}
