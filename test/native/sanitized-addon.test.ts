import { cpSync, existsSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { packageRoot } from '../helpers/program.js';
import { runToEnd } from '../helpers/run-to-end.js';
import { preloading } from '../helpers/sanitizers.js';
import { useTempDir } from '../helpers/temp-dir.js';
import { requireTool } from '../helpers/tools.js';
import type { Tool } from '../helpers/tools.js';

const temp = useTempDir();

/** Where threads and environments end while the addon is at work. */
const SUITES = [
  'test/bucket-lock',
  'test/bucket-wait',
  'test/held-bucket',
  'test/named-lock',
  'test/thread-shared',
  'test/scenarios/exit-workers',
  'test/scenarios/granted-and-given-up',
  'test/scenarios/line-in-process',
];
/** A worker that ends with many locks goes the ways of one that ends with a single one, too. */
const LEFT_OUT = 'of a worker with 1 held';

const LONGEST_BUILD_MS = 10 * 60_000;
const LONGEST_RUN_MS = 15 * 60_000;

interface Kind {
  readonly sanitizers: string;
  readonly tool: Tool;
  readonly libraries: readonly string[];
  /** What the addon calls only if it was built so. */
  readonly calls: readonly string[];
  readonly options: (log: string) => NodeJS.ProcessEnv;
  readonly suites: readonly string[];
  /** Fewer would mean that suites have been renamed, and are passed over. */
  readonly leastPassed: number;
}

const kinds: readonly Kind[] = [
  {
    sanitizers: 'address,undefined',
    tool: 'node-with-asan',
    libraries: ['libasan.so', 'libubsan.so'],
    calls: ['__asan_report_load', '__ubsan_handle_'],
    // Node.js frees little at its end, and handles SIGSEGV itself.
    options: (log) => ({
      ASAN_OPTIONS: `detect_leaks=0:abort_on_error=1:handle_segv=0:log_path=${log}`,
      UBSAN_OPTIONS: `print_stacktrace=1:halt_on_error=1:log_path=${log}`,
    }),
    suites: [...SUITES, 'test/scenarios/release'],
    leastPassed: 160,
  },
  {
    sanitizers: 'thread',
    tool: 'node-with-tsan',
    libraries: ['libtsan.so'],
    calls: ['__tsan_read', '__tsan_write'],
    // What Node.js itself does cannot be judged: its code does not say what it reads and writes.
    options: (log) => ({
      TSAN_OPTIONS: `ignore_noninstrumented_modules=1:handle_segv=0:log_path=${log}`,
    }),
    suites: SUITES,
    leastPassed: 140,
  },
];

/** What vitest writes about its run; only what is read here. */
interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** A copy of the package whose addon is built with the sanitizers. */
async function buildSanitized({ sanitizers, calls }: Kind): Promise<string> {
  const copy = temp.directory('package');
  const parts = ['.ci', 'binding.gyp', 'dist', 'lib', 'native', 'package.json', 'test'];
  for (const part of [...parts, 'tsconfig.json', 'vitest.config.ts']) {
    cpSync(join(packageRoot, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(packageRoot, 'node_modules'), join(copy, 'node_modules'));
  const env = {
    ...process.env,
    // Without optimizing it compiles faster, and compiling is a good part of the work.
    CXXFLAGS: `-fsanitize=${sanitizers} -fno-omit-frame-pointer -O0 -g1`,
    LDFLAGS: `-fsanitize=${sanitizers}`,
    JOBS: 'max',
  };
  const build = [join(copy, '.ci', 'build-addon.mjs')];
  const built = await runToEnd(process.execPath, build, { timeout: LONGEST_BUILD_MS, env });
  if (built.code !== 0) throw new Error(`the sanitized addon does not build:\n${built.output}`);
  const addon = readFileSync(join(copy, 'build', 'Release', 'bucketlock.node'));
  for (const call of calls) {
    if (!addon.includes(call)) throw new Error(`the addon does not call ${call}`);
  }
  return copy;
}

/** This process's own, without what vitest and a long run of its own say to their children. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(VITEST|STRESS$)/.test(name));
  return Object.fromEntries(kept);
}

/** What the tests that failed say. */
function complaintsOf({ testResults }: Report): string {
  const complaints = testResults.flatMap(({ message, assertionResults }) => [
    message,
    ...assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `${fullName}\n${failureMessages.join('\n')}`),
  ]);
  return complaints.join('\n').trim();
}

test.for(kinds)(
  'locks, exits and workers pass with an addon under -fsanitize=$sanitizers',
  { timeout: LONGEST_BUILD_MS + LONGEST_RUN_MS },
  async (kind, context) => {
    requireTool(context, kind.tool);
    const copy = await buildSanitized(kind);
    const logs = temp.directory('logs');
    const reportFile = join(copy, 'report.json');
    const env = {
      ...plainEnvironment(),
      ...preloading(kind.libraries),
      ...kind.options(join(logs, 'log')),
      TEST_REPORT: reportFile,
    };
    const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs');
    const args = [vitest, 'run', '--testNamePattern', `^(?!.*${LEFT_OUT})`, ...kind.suites];
    const run = { cwd: copy, timeout: LONGEST_RUN_MS, env };
    const { code, output } = await runToEnd(process.execPath, args, run);
    const found = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'));
    expect(found.join('\n')).toBe('');
    if (!existsSync(reportFile)) throw new Error(`ended with ${code}, no report:\n${output}`);
    const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
    expect(complaintsOf(report)).toBe('');
    expect({ code, success: report.success }, output).toEqual({ code: 0, success: true });
    expect(report.numPassedTests).toBeGreaterThanOrEqual(kind.leastPassed);
  },
);
