import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import { quoted } from './quoted.js';

export const HELP = `Usage:
  bucketlock run [--wait <duration>] [--label <text>] <bucket> -- <command> [<argument>...]
  bucketlock inspect [--json] <bucket>
  bucketlock break --token <token> <bucket>

run      runs a command while holding the lock of a bucket, which is a directory
inspect  says who holds the lock, since when, why, and how that is known
break    removes the record of a holder known to be gone; none whose kernel lock is seen held

  --wait <duration>  how long to wait for the lock: 500ms, 30s, 2m, 1h, 0 or forever (default 10s)
  --label <text>     why the lock is taken; shown to whoever waits for it
  --json             the report as one line of JSON
  --token <token>    which record to remove, as inspect shows it
  --help, --version

Exit status of run: that of the command; 128+n if signal n killed it; 126 or 127 if it could not be
run or found; 75 if the lock was busy; 76 if it succeeded but the lock was lost meanwhile.
Of inspect and break: 0; 75 if break left the record. Of all: 64 for wrong usage, 71 for a failure,
74 if the output could not be written.
`;

/** The exit statuses of our own: those of sysexits.h where it has one for the case. */
export const EXIT = {
  usage: 64,
  failure: 71,
  output: 74,
  busy: 75,
  lost: 76,
  notExecutable: 126,
  notFound: 127,
} as const;

export type Invocation =
  | { readonly command: 'help' | 'version' }
  | {
      readonly command: 'run';
      readonly bucket: string;
      readonly waitMs: number;
      readonly label: string | undefined;
      readonly program: string;
      readonly programArguments: readonly string[];
    }
  | { readonly command: 'inspect'; readonly bucket: string; readonly json: boolean }
  | { readonly command: 'break'; readonly bucket: string; readonly token: string };

/** Wrong usage, in one line. */
export class UsageError extends Error {}

const DEFAULT_WAIT = '10s';

/** @throws UsageError */
export function readInvocation(argv: readonly string[]): Invocation {
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  const rest = end === -1 ? undefined : argv.slice(end + 1);
  const [command, ...args] = own;
  // Wherever it stands, as long as it is not the command's.
  if (own.includes('--help') || own.includes('-h')) return { command: 'help' };
  if (own.includes('--version')) return { command: 'version' };
  if (command === undefined) throw new UsageError('a command is missing: run, inspect or break');
  switch (command) {
    case 'run':
      return readRun(args, rest);
    case 'inspect': {
      const { values, bucket } = read(args, rest, { json: { type: 'boolean' } });
      return { command, bucket, json: values.json ?? false };
    }
    case 'break': {
      const { values, bucket } = read(args, rest, { token: { type: 'string' } });
      if (!values.token) throw new UsageError('break needs --token, which inspect shows');
      return { command, bucket, token: values.token };
    }
    default:
      throw new UsageError(`there is no command ${quoted(command)}, only run, inspect and break`);
  }
}

function readRun(args: readonly string[], rest: readonly string[] | undefined): Invocation {
  // Taken for an option, it would be told to be ambiguous.
  const negative = args.find((arg, at) => args[at - 1] === '--wait' && /^-\.?\d/.test(arg));
  if (negative !== undefined) readDuration(negative);
  const { values, bucket } = read(args, undefined, {
    wait: { type: 'string' },
    label: { type: 'string' },
  });
  const [program, ...programArguments] = rest ?? [];
  if (!program) throw new UsageError('run needs a command after --');
  const waitMs = readDuration(values.wait ?? DEFAULT_WAIT);
  return { command: 'run', bucket, waitMs, label: values.label, program, programArguments };
}

function read<Options extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  rest: readonly string[] | undefined,
  options: Options,
) {
  const { values, positionals } = parse(args, options);
  const [bucket, ...others] = [...positionals, ...(rest ?? [])];
  if (!bucket) throw new UsageError('a bucket is missing: the directory to lock');
  if (others.length > 0)
    throw new UsageError(`one bucket at a time; ${quoted(others[0])} is too many`);
  return { values, bucket };
}

function parse<Options extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    // Node's sentences after the first are advice that does not fit here.
    const [sentence] = String(error instanceof Error ? error.message : error).split(/\.\s|\n/);
    throw new UsageError(sentence);
  }
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds. @throws UsageError */
export function readDuration(text: string): number {
  if (text === 'forever') return Infinity;
  if (text === '0') return 0;
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined) {
    throw new UsageError(
      `${quoted(text)} is no duration: those are like 500ms, 5s, 2m, 0 or forever, never negative`,
    );
  }
  return Number(number) * factor;
}
