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

/** What the participants of a driver are. */
export interface ParticipantProgram {
  /** Node.js, behind a program that runs it if need be. */
  readonly command: readonly [string, ...string[]];
  /** The package's entry file and the participant, as that Node.js spells their paths. */
  readonly entry: string;
  readonly participant: string;
  readonly env?: Readonly<Record<string, string>>;
}

export const defaultProgram: ParticipantProgram = {
  command: [program.node],
  entry: program.entry,
  participant: program.participant,
};

/** Where the package lies that the participants load. */
export const packageRoot = dirname(dirname(program.entry));
