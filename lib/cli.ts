#!/usr/bin/env node
import { createRequire } from 'node:module';
import { breakRecord, inspectBucket } from './cli-inspect.js';
import { OutputError, print, say } from './cli-output.js';
import { runUnderLock } from './cli-run.js';
import { EXIT, HELP, UsageError, readInvocation } from './cli-usage.js';
import type { Invocation } from './cli-usage.js';
import { isLockBusyError, isLockError } from './error-guards.js';
import type { LockBusyError } from './errors.js';
import { describeHolder } from './lock-report.js';

/** Answers the exit status. */
async function run(invocation: Invocation): Promise<number> {
  switch (invocation.command) {
    case 'help':
      await print(HELP);
      return 0;
    case 'version':
      await print(`${version()}\n`);
      return 0;
    case 'run':
      return runUnderLock(invocation);
    case 'inspect':
      return inspectBucket(invocation);
    case 'break':
      return breakRecord(invocation);
  }
}

function version(): string {
  const require = createRequire(import.meta.url);
  return (require('../package.json') as { readonly version: string }).version;
}

/** Says what went wrong in one line, and answers the exit status for it. */
function explain(error: unknown): number {
  if (error instanceof UsageError || isMisuse(error)) {
    say(`${error.message} (see bucketlock --help)`);
    return EXIT.usage;
  }
  if (error instanceof OutputError) {
    say(error.message);
    return EXIT.output;
  }
  if (!isLockError(error)) throw error;
  const isBusy = isLockBusyError(error);
  // The message of a busy error speaks of options that the command line has under other names.
  say(isBusy ? describeBusy(error) : error.message);
  return isBusy ? EXIT.busy : EXIT.failure;
}

function describeBusy({ path = '', report, waitedMs }: LockBusyError): string {
  const isHeld = report.state === 'held';
  const holder = isHeld ? describeHolder(report) : 'not to be had in time';
  const waited = waitedMs === 0 ? '' : `; gave up after ${waitedMs} ms`;
  const canBreak = isHeld && report.evidence !== 'guard' && report.token !== undefined;
  const hint = canBreak ? '; see bucketlock break if that holder is known to be gone' : '';
  return `${path}: ${holder}${waited}${hint}`;
}

/** An argument that the package refused: what the user gave, such as a label that is too long. */
function isMisuse(error: unknown): error is Error {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return typeof error.code === 'string' && /^ERR_(INVALID_ARG|OUT_OF)_/.test(error.code);
}

async function main(): Promise<void> {
  try {
    process.exitCode = await run(readInvocation(process.argv.slice(2)));
  } catch (error) {
    process.exitCode = explain(error);
  }
}

void main();
