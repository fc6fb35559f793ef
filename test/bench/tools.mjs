import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** Compiles the bare C program into `directory` and answers its path. */
export function compileBare(directory) {
  const program = join(directory, 'bare_lockfile');
  execFileSync('cc', ['-O2', '-Wall', '-o', program, join(here, 'bare_lockfile.c')]);
  return program;
}

/** Compiles and loads the addon whose `trip()` goes through libuv's pool and does nothing. */
export function loadEmptyTrip(directory) {
  const headers = join(dirname(dirname(process.execPath)), 'include', 'node');
  if (!existsSync(join(headers, 'node_api.h'))) throw new Error(`no Node.js headers in ${headers}`);
  const addon = join(directory, 'empty_trip.node');
  const flags = ['-O2', '-shared', '-fPIC', '-DNODE_GYP_MODULE_NAME=empty_trip', `-I${headers}`];
  execFileSync('cc', [...flags, '-o', addon, join(here, 'empty_trip.c')]);
  return createRequire(import.meta.url)(addon).trip;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Nanoseconds a turn, of `count` turns one after the other. */
export async function time(count, turn) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < count; i += 1) await turn();
  return Number(process.hrtime.bigint() - start) / count;
}

export function timeSync(count, turn) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < count; i += 1) turn();
  return Number(process.hrtime.bigint() - start) / count;
}
