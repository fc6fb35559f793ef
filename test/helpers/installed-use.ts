import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const body = `
  const { existsSync } = process.getBuiltinModule('node:fs');
  const [bucket] = process.argv.slice(-1);
  const held = await new BucketLock(bucket).acquire();
  const locked = existsSync(lockPath(bucket));
  const released = await held.release();
  const addon = process.report.getReport().sharedObjects.find((file) => file.endsWith('.node'));
  console.log(JSON.stringify({ locked, released, addon }));
`;

/** A module that takes and releases the lock of the bucket it is given, and tells of it. */
export const programs = {
  import: `import { BucketLock, lockPath } from 'bucketlock';\n${inFunction(body)}`,
  require: `const { BucketLock, lockPath } = require('bucketlock');\n${inFunction(body)}`,
} as const;

/** CommonJS has no `await` outside of functions. */
function inFunction(code: string): string {
  return `(async () => {${code}})();\n`;
}

export interface Use {
  readonly locked: boolean;
  readonly released: boolean;
  /** The addon that was loaded, relative to the project. */
  readonly addon: string;
}

/** Runs one of the programs: its arguments to Node.js, without the bucket. */
export async function use(project: string, bucket: string, ...args: string[]): Promise<Use> {
  const { stdout } = await run(process.execPath, [...args, bucket], { cwd: project });
  const told = JSON.parse(stdout) as Use;
  return { ...told, addon: path.relative(project, told.addon) };
}
