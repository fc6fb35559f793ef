import { describe, test } from 'vitest';

import { useTempDir } from '../helpers/temp-dir.js';
import { hasTool, requireTool } from '../helpers/tools.js';
import type { Tool } from '../helpers/tools.js';
import { buildTests, casesOf, plainSources, runCase, testSources } from './google-test.js';
import type { TestProgram } from './google-test.js';

const programs: readonly (TestProgram & { readonly tool: Tool })[] = [
  {
    tool: 'gtest',
    sanitizers: 'address,undefined',
    sources: plainSources(),
    tests: testSources(),
  },
  {
    // What several threads work on. Again, because the two sanitizers exclude each other.
    tool: 'gtest-thread',
    sanitizers: 'thread',
    sources: [
      'named_lock.cc',
      'posix/handle.cc',
      'posix/kernel_lock.cc',
      'posix/queue_lock.cc',
      'posix/queue_mark_linux.cc',
      'posix/thread.cc',
      'wait_queue.cc',
      'wait_timekeeper.cc',
      'wait_worker.cc',
    ],
    tests: [
      'fake_lock.cc',
      'fake_place.cc',
      'named_lock_test.cc',
      'queue_lock_test.cc',
      'wait_place_test.cc',
      'wait_queue_test.cc',
      'wait_reservation_test.cc',
      'wait_timekeeper_test.cc',
    ],
  },
];

const temp = useTempDir();

for (const program of programs) {
  describe(`-fsanitize=${program.sanitizers}`, async () => {
    if (!hasTool(program.tool)) {
      test('every case passes', (context) => {
        requireTool(context, program.tool);
      });
      return;
    }
    const binary = await buildTests(program);
    for (const testCase of await casesOf(binary)) {
      test(`${testCase.suite}.${testCase.name}`, () =>
        runCase(binary, testCase, temp.directory(testCase.suite)));
    }
  });
}
