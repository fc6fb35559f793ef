// The command line of the demonstration.
import { parseArgs } from 'node:util';

export const USAGE = 'usage: npm run demo -- [--workers N] [--seconds N] [--kill-every MS]';

/** What the caller got wrong, in one line. */
export class UsageError extends Error {}

export function readOptions(args) {
  const { values } = parse(args);
  return {
    help: values.help,
    workers: number(values.workers, '--workers', 2, 64),
    seconds: number(values.seconds, '--seconds', 1, 3600),
    killEveryMs: number(values['kill-every'], '--kill-every', 1, 3_600_000),
  };
}

function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        workers: { type: 'string', default: '6' },
        seconds: { type: 'string', default: '12' },
        'kill-every': { type: 'string', default: '700' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    const [problem] = error.message.split(/\n|\. To /);
    throw new UsageError(`${problem.replace(/\.$/, '')}; ${USAGE}`, { cause: error });
  }
}

function number(text, name, least, most) {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  const got = JSON.stringify(text);
  throw new UsageError(
    `${name} takes a whole number from ${least} to ${most}, not ${got}; ${USAGE}`,
  );
}
