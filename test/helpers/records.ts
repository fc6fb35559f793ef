import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Driver } from './driver.js';

/** The JSON object on the second line of a lockfile. */
export interface RecordFields {
  readonly v: number;
  readonly token: string;
  readonly pid: number;
  readonly start: string;
  readonly boot: string;
  readonly host: string;
  readonly fs: string;
  readonly guarded: boolean;
  readonly label?: string;
  readonly since: number;
}

export function lockfileOf(bucket: string): string {
  return join(bucket, '.lock');
}

export function readRecord(bucket: string): RecordFields {
  const [, json = ''] = readFileSync(lockfileOf(bucket), 'utf8').split('\n');
  return JSON.parse(json) as RecordFields;
}

/** Leaves a lockfile that nobody guards. */
export function writeLockfile(bucket: string, content: string | Uint8Array): void {
  writeFileSync(lockfileOf(bucket), content, { mode: 0o600 });
}

export function writeRecord(bucket: string, fields: RecordFields): void {
  writeLockfile(bucket, `${fields.pid}\n${JSON.stringify(fields)}\n`);
}

/** Dates the lockfile `ageMs` back; a negative age is in the future. */
export function ageLockfile(bucket: string, ageMs: number): void {
  const seconds = (Date.now() - ageMs) / 1000;
  utimesSync(lockfileOf(bucket), seconds, seconds);
}

export function lockfileAgeMs(bucket: string): number {
  return Date.now() - statSync(lockfileOf(bucket)).mtimeMs;
}

/** Makes a process take the lock, kills it, and answers the full record it leaves there. */
export async function leaveDeadRecord(
  driver: Driver,
  bucket: string,
  lockOptions: Readonly<Record<string, unknown>> = {},
): Promise<RecordFields> {
  const holder = await driver.spawn();
  await holder.call('acquireSync', { bucket, lockOptions, label: 'dead by now' });
  const fields = readRecord(bucket);
  await holder.kill();
  return fields;
}
