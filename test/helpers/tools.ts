import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestContext } from 'vitest';

import { mountBindfs, mountOverlay, mountTmpfs, unmountAll } from './mounts.js';
import { packageRoot } from './program.js';
import { nodeRunsWith } from './sanitizers.js';

/** The Windows builds of Node.js that the tests use. */
export const WINDOWS_NODE_VERSIONS = ['20', '22'] as const;

/** Where .ci/fetch-runtimes.mjs puts a file of a runtime. */
export function runtimeFile(runtime: string, ...file: readonly string[]): string {
  return join(packageRoot, 'build', 'runtimes', runtime, ...file);
}

export function windowsNode(version: string): string {
  return runtimeFile(`node-${version}-windows`, 'node.exe');
}

/** A module of the Python package `lacing`, where .ci/run puts it. */
export const lacing = join(packageRoot, 'build', 'lacing-0.0.61', 'lacing', 'store', 'locking.py');

function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function mounts(mount: (directory: string) => void): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'bucketlock-probe-'));
  try {
    mount(directory);
    return true;
  } catch {
    return false;
  } finally {
    unmountAll();
    rmSync(directory, { recursive: true, force: true });
  }
}

function subdirectory(directory: string, name: string): string {
  const path = join(directory, name);
  mkdirSync(path);
  return path;
}

/** A C++ compiler, GoogleTest and a sanitizer that works on this kernel, in one program. */
function runsGoogleTest(sanitizers: string): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'bucketlock-probe-'));
  try {
    const source = join(directory, 'probe.cc');
    const program = join(directory, 'probe');
    writeFileSync(source, '#if !__has_include(<gtest/gtest.h>)\n#error "no headers"\n#endif\n');
    const flags = [`-fsanitize=${sanitizers}`, '-lgtest_main', '-lgtest', '-pthread'];
    return (
      runs('make', '--version') && runs('g++', '-o', program, source, ...flags) && runs(program)
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What a test may need of the machine: each is tried, never guessed from a name. */
const probes = {
  bindfs: () =>
    mounts((directory) => {
      mountBindfs(subdirectory(directory, 'source'), subdirectory(directory, 'target'));
    }),
  cc: () => runs('cc', '--version'),
  flock: () => runs('flock', '--version'),
  gtest: () => runsGoogleTest('address,undefined'),
  'gtest-thread': () => runsGoogleTest('thread'),
  lacing: () => existsSync(lacing),
  lief: () => runs('python3', '-c', 'import lief'),
  mingw: () => runs('x86_64-w64-mingw32-g++-posix', '--version'),
  mkfifo: () => runs('mkfifo', '--version'),
  'node-with-asan': () => nodeRunsWith(['libasan.so', 'libubsan.so']),
  'node-with-tsan': () => nodeRunsWith(['libtsan.so']),
  overlay: () =>
    mounts((directory) => {
      mountOverlay({
        lower: subdirectory(directory, 'lower'),
        upper: subdirectory(directory, 'upper'),
        work: subdirectory(directory, 'work'),
        merged: subdirectory(directory, 'merged'),
      });
    }),
  'pid-namespace': () => runs('unshare', '--pid', '--fork', '--mount-proc', 'true'),
  root: () => process.getuid?.() === 0,
  script: () => runs('script', '--version'),
  tmpfs: () => mounts(mountTmpfs),
  strace: () => runs('strace', '-o', '/dev/null', 'true'),
  'windows-node': () => WINDOWS_NODE_VERSIONS.every((version) => existsSync(windowsNode(version))),
  wine: () => runs('wine', '--version'),
  ziglang: () => runs('python3', '-m', 'ziglang', 'version'),
} satisfies Record<string, () => boolean>;

export type Tool = keyof typeof probes;

const found = new Map<Tool, boolean>();

export function hasTool(tool: Tool): boolean {
  const present = found.get(tool) ?? probes[tool]();
  found.set(tool, present);
  return present;
}

/**
 * Skips the test, with the reason, where the machine lacks `tool`. With `CI=true` that is a
 * failure.
 */
export function requireTool(context: TestContext, tool: Tool): void {
  requirePresent(context, tool, hasTool(tool));
}

/** The same of anything else that a test looks for itself. */
export function requirePresent(context: TestContext, what: string, isPresent: boolean): void {
  if (isPresent) return;
  if (process.env['CI'] === 'true') {
    throw new Error(`this machine lacks ${what}, which the tests need in CI`);
  }
  context.skip(`this machine lacks ${what}`);
}
