import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { compileProgram, loadEmptyTrip } from './compile.mjs';

/** The directory of one run: the C programs, and a new empty directory for each who needs one. */
export class Work {
  #made = 0;

  constructor(parent) {
    this.path = mkdtempSync(join(parent, 'bucketlock-bench-'));
    this.bare = compileProgram(this.path, 'bare_lockfile');
    this.participant = compileProgram(this.path, 'participant');
  }

  directory() {
    this.#made += 1;
    const path = join(this.path, `bucket-${this.#made}`);
    mkdirSync(path);
    return path;
  }

  emptyTrip() {
    return loadEmptyTrip(this.path);
  }

  remove() {
    rmSync(this.path, { recursive: true, force: true });
  }
}
