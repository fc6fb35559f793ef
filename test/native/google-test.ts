import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../helpers/program.js';
import { runToEnd } from '../helpers/run-to-end.js';
import { PATIENCE_MS } from '../helpers/until.js';

/** The lists of native/sources.gypi that concern these tests. */
interface SourcesGypi {
  readonly variables: {
    readonly sources_common: readonly string[];
    readonly sources_posix: readonly string[];
    readonly sources_linux: readonly string[];
    readonly cflags_cc: readonly string[];
  };
}

/** One program of tests. */
export interface TestProgram {
  /** As `-fsanitize=` takes them. */
  readonly sanitizers: string;
  /** Files of `native/`, and of this folder. */
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

export interface TestCase {
  readonly suite: string;
  readonly name: string;
}

const folder = join(packageRoot, 'test', 'native');

/** Longer than any test waits for what must happen. */
const LONGEST_CASE_MS = 3 * PATIENCE_MS;
const LONGEST_BUILD_MS = 10 * 60_000;

function gypi(): SourcesGypi['variables'] {
  const text = readFileSync(join(packageRoot, 'native', 'sources.gypi'), 'utf8');
  return (JSON.parse(text) as SourcesGypi).variables;
}

/** What is built on Node-API needs a Node.js process around it. */
const NODE_API_SOURCES = [
  'addon.cc',
  'bucket_calls.cc',
  'call.cc',
  'environment.cc',
  'job.cc',
  'lockfile_calls.cc',
  'marshal.cc',
  'named_calls.cc',
  'named_claims.cc',
  'wait_calls.cc',
];

/** The native sources that can be tested without Node.js, relative to `native/`. */
export function plainSources(): string[] {
  const { sources_common, sources_posix, sources_linux } = gypi();
  return [...sources_common, ...sources_posix, ...sources_linux]
    .map((source) => source.replace(/^native\//, ''))
    .filter((source) => !NODE_API_SOURCES.includes(source));
}

/** All C++ files of this folder. */
export function testSources(): string[] {
  return readdirSync(folder).filter((file) => file.endsWith('.cc'));
}

/**
 * Compiles what has changed since the last time, and answers the program's path. Objects are kept
 * below build/, apart for each list of files and flags.
 */
export async function buildTests(program: TestProgram): Promise<string> {
  const flags = [
    ...gypi().cflags_cc,
    `-fsanitize=${program.sanitizers}`,
    '-fno-sanitize-recover=all',
    '-fno-omit-frame-pointer',
    '-D_GLIBCXX_ASSERTIONS',
    '-g1',
  ];
  const variables = [
    `FLAGS=${flags.join(' ')}`,
    `SOURCES=${program.sources.join(' ')}`,
    `TESTS=${program.tests.join(' ')}`,
  ];
  const digest = createHash('sha256').update(variables.join('\n')).digest('hex').slice(0, 16);
  const out = join(packageRoot, 'build', 'test-native', digest);
  mkdirSync(out, { recursive: true });
  const args = ['--silent', '-j2', '-C', folder, `OUT=${out}`, ...variables];
  const made = await runToEnd('make', args, { timeout: LONGEST_BUILD_MS });
  if (made.code !== 0) throw new Error(`the tests of native/ do not compile:\n${made.output}`);
  return join(out, 'tests');
}

/** Every case that the program has. */
export async function casesOf(program: string): Promise<TestCase[]> {
  const listed = await runToEnd(program, ['--gtest_list_tests'], { timeout: LONGEST_CASE_MS });
  if (listed.code !== 0) throw new Error(`the tests of native/ do not start:\n${listed.output}`);
  const cases: TestCase[] = [];
  let suite = '';
  for (const line of listed.output.split('\n')) {
    const [, suiteName, caseName] = /^(?:(\S+)\.|\s+(\S+))(?:\s+#.*)?$/.exec(line) ?? [];
    if (suiteName !== undefined) suite = suiteName;
    if (caseName !== undefined) cases.push({ suite, name: caseName });
  }
  return cases;
}

/** What a program writes about its run; only what is read here. */
interface Report {
  readonly tests: number;
  readonly testsuites: readonly { readonly testsuite: readonly { readonly result: string }[] }[];
}

/**
 * Runs one case in a process of its own, so that what a sanitizer ends is that case alone. Throws
 * with everything it said unless it ran and passed. `scratch` is for its files.
 */
export async function runCase(program: string, { suite, name }: TestCase, scratch: string) {
  const report = join(scratch, 'report.json');
  const args = [`--gtest_filter=${suite}.${name}`, `--gtest_output=json:${report}`];
  const env = {
    ...process.env,
    TEST_TMPDIR: scratch,
    ASAN_OPTIONS: 'detect_stack_use_after_return=1:strict_string_checks=1',
    TSAN_OPTIONS: 'halt_on_error=1',
    UBSAN_OPTIONS: 'print_stacktrace=1',
  };
  const { code, output } = await runToEnd(program, args, { timeout: LONGEST_CASE_MS, env });
  if (code !== 0) throw new Error(`ended with ${code}:\n${output}`);
  const { tests, testsuites } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const results = testsuites.flatMap(({ testsuite }) => testsuite.map(({ result }) => result));
  if (tests !== 1 || results.join() !== 'COMPLETED') throw new Error(`did not run:\n${output}`);
}
