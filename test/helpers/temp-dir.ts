import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll } from 'vitest';

import { unmountAll } from './mounts.js';
import { onExit } from './reaper.js';

/** A directory of this test file's own, open to other users, gone when its tests are done. */
export class TempDir {
  #path: string | undefined;
  #made = 0;

  get path(): string {
    if (this.#path === undefined) throw new Error('the temporary directory exists in tests only');
    return this.#path;
  }

  create(): void {
    const path = realpathSync(mkdtempSync(join(tmpdir(), 'bucketlock-')));
    chmodSync(path, 0o755);
    this.#path = path;
  }

  /** A new empty directory. */
  directory(name = 'bucket'): string {
    this.#made += 1;
    const path = join(this.path, `${name}-${this.#made}`);
    mkdirSync(path);
    return path;
  }

  remove(): void {
    if (this.#path === undefined) return;
    rmSync(this.#path, { recursive: true, force: true });
    this.#path = undefined;
  }
}

/** Unmounts and removes after the last test of the file, or when the test process ends. */
export function useTempDir(): TempDir {
  const directory = new TempDir();
  let forget: () => void = () => undefined;
  const remove = () => {
    unmountAll();
    directory.remove();
  };
  beforeAll(() => {
    directory.create();
    forget = onExit(remove);
  });
  afterAll(() => {
    remove();
    forget();
  });
  return directory;
}
