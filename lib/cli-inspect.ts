import { breakLock } from './bucket-functions.js';
import { BucketLock } from './bucket-lock.js';
import { print, say } from './cli-output.js';
import type { Invocation } from './cli-usage.js';
import { EXIT } from './cli-usage.js';
import type { LockReport } from './lock.js';
import { describeHolder } from './lock-report.js';

type Inspection = Extract<Invocation, { command: 'inspect' }>;
type Breaking = Extract<Invocation, { command: 'break' }>;

/** Prints who holds a bucket. Answers the exit status. */
export async function inspectBucket({ bucket, json }: Inspection): Promise<number> {
  const lock = new BucketLock(bucket);
  const report = await lock.inspect();
  const text = json ? JSON.stringify({ path: lock.path, ...report }) : describe(lock.path, report);
  await print(`${text}\n`);
  return 0;
}

/** Removes a record. Answers the exit status. */
export async function breakRecord({ bucket, token }: Breaking): Promise<number> {
  const { path } = new BucketLock(bucket);
  if (await breakLock(path, { token })) {
    await print(`${path}: that record is gone\n`);
    return 0;
  }
  say(`${path}: not removed: another record is there now, or its holder is alive`);
  return EXIT.busy;
}

function describe(path: string, report: LockReport): string {
  const token = report.token === undefined ? '' : `\ntoken: ${report.token}`;
  return `${path}: ${describeHolder(report)}${token}`;
}
