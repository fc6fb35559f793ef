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

/** Runs a command in the repository's root and ends this process with its exit code unless that is 0. */
export function run(command, args, env = process.env) {
  const result = spawnSync(command, args, { cwd: root, env, stdio: 'inherit' });
  if (result.error) throw result.error;
  if (result.signal) throw new Error(`${command} was ended by ${result.signal}`);
  // The command has said what is wrong; a stack of ours would only push that out of sight.
  if (result.status !== 0) process.exit(result.status);
}

/**
 * Builds the addon into build/Release. Configuring each time costs a second, and follows every change of sources,
 * flags and Node; only what has changed is compiled.
 */
export function buildAddon() {
  const bin = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js');
  const nodeDir = localNodeDir();
  const flags = nodeDir === undefined ? [] : [`--nodedir=${nodeDir}`];
  run(process.execPath, [bin, 'configure', 'build', '--release', '--loglevel=warn', ...flags]);
}
