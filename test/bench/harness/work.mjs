import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { compileProgram, loadAddon } from './compile.mjs';

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

  /** A trip through libuv's pool that does nothing there. */
  emptyTrip() {
    return loadAddon(this.path, 'empty_trip').trip;
  }

  /** The C program's calls in two trips, `acquire()` and `release()`, in a directory of their own. */
  lockfileTrips() {
    const trips = loadAddon(this.path, 'lockfile_trips');
    trips.open(this.directory());
    return trips;
  }

  remove() {
    rmSync(this.path, { recursive: true, force: true });
  }
}
