import { configDefaults, defineConfig } from 'vitest/config';

// A machine that runs the tests may ask for a report to count from: TEST_REPORT names the JSON file.
const report = process.env['TEST_REPORT'];

export default defineConfig({
  test: {
    // Locks are per process: worker threads would change what is being tested.
    pool: 'forks',
    // Scenarios start many processes; two files at once would only slow each other down.
    fileParallelism: false,
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/fixtures/**'],
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
