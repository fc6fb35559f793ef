import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** The folder that holds include/node for the running Node, or undefined where its headers are not installed. */
export function localNodeDir() {
  const prefix = path.resolve(path.dirname(process.execPath), '..');
  return existsSync(path.join(prefix, 'include', 'node', 'node_api.h')) ? prefix : undefined;
}

/** Runs a command in the repository's root and throws unless it succeeds. */
export function run(command, args, env = process.env) {
  const result = spawnSync(command, args, { cwd: root, env, stdio: 'inherit' });
  if (result.error) throw result.error;
  if (result.status !== 0) {
    throw new Error(`${command} ${args.join(' ')}: ${result.signal ?? `exit ${result.status}`}`);
  }
}

/** `build` configures first where that has not been done, and compiles only what has changed. */
export function nodeGyp(action) {
  const bin = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js');
  const nodeDir = localNodeDir();
  const flags = nodeDir === undefined ? [] : [`--nodedir=${nodeDir}`];
  const steps =
    action === 'build' && existsSync(path.join(root, 'build', 'config.gypi'))
      ? ['build']
      : ['rebuild'];
  for (const step of steps)
    run(process.execPath, [bin, step, '--release', '--loglevel=warn', ...flags]);
}
