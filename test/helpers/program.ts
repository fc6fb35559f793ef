import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * How a participant is started. The environment can name another Node.js program and another
 * build of the package, so that the same scenarios run for another system.
 */
export const program = {
  node: process.env['BUCKETLOCK_TEST_NODE'] ?? process.execPath,
  entry:
    process.env['BUCKETLOCK_TEST_ENTRY'] ??
    fileURLToPath(new URL('../../dist/index.js', import.meta.url)),
  participant: fileURLToPath(new URL('../fixtures/participant.mjs', import.meta.url)),
} as const;

/** Where the package lies that the participants load. */
export const packageRoot = dirname(dirname(program.entry));
