import { join } from 'node:path';

import { beforeAll } from 'vitest';

import { addProgram, installPackage } from './installed-package.js';
import type { InstalledPackage } from './installed-package.js';
import type { ParticipantProgram } from './program.js';
import { runToEnd } from './run-to-end.js';
import type { Ended } from './run-to-end.js';
import { commandOf } from './runtimes.js';
import type { Runtime } from './runtimes.js';
import type { TempDir } from './temp-dir.js';

const TIMEOUT_MS = 60_000;

/** A project with the package installed and some programs of `test/fixtures`, for any runtime. */
export class RuntimeProject {
  #installed: InstalledPackage | undefined;

  install(directory: string, programs: readonly string[]): void {
    this.#installed = installPackage(directory);
    for (const name of programs) addProgram(this.#installed, name);
  }

  get #package(): InstalledPackage {
    if (this.#installed === undefined) throw new Error('the project exists in tests only');
    return this.#installed;
  }

  get directory(): string {
    return this.#package.directory;
  }

  run(runtime: Runtime, program: string, ...args: readonly string[]): Promise<Ended> {
    const [command, ...flags] = commandOf(runtime);
    const options = { timeout: TIMEOUT_MS, cwd: this.directory };
    return runToEnd(command, [...flags, join(this.directory, program), ...args], options);
  }

  /** For a driver; the project needs `participant.mjs` and `counting.mjs`. */
  participantIn(runtime: Runtime): ParticipantProgram {
    return {
      command: commandOf(runtime),
      entry: this.#package.entry,
      participant: join(this.directory, 'participant.mjs'),
    };
  }
}

/** A project for the tests of one file. */
export function useRuntimeProject(temp: TempDir, programs: readonly string[]): RuntimeProject {
  const project = new RuntimeProject();
  beforeAll(() => {
    project.install(temp.directory('project'), programs);
  });
  return project;
}
