import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll } from 'vitest';

import { packageRoot, program } from './program.js';
import type { ParticipantProgram } from './program.js';
import { killNow, onExit } from './reaper.js';
import { windowsNode } from './tools.js';
import { until } from './until.js';

/** Where `.ci/cross-build.mjs` builds, and what only the tests need lies beside it. */
export const crossFolder = join(packageRoot, 'build', 'cross');

/** A path of this system as a program under Wine spells it: drive Z is the root. */
export function windowsPath(path: string): string {
  return `Z:${path.replaceAll('/', '\\')}`;
}

/**
 * A Windows of this machine's, in build/, that lives as long as the tests of one file: programs
 * for Windows run in it, and the package is installed there as the cross build made it.
 */
export class Wine {
  readonly #env = {
    WINEPREFIX: join(crossFolder, 'wine-prefix'),
    WINEDEBUG: '-all',
    // Without these two it asks whether to install them.
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
  };
  readonly #started = new Set<ChildProcess>();
  #installed = '';

  /** Makes the Windows if there is none yet. `install` answers the folder of the package. */
  start(install: () => string): void {
    this.#makePrefix();
    this.#installed = install();
  }

  /** What a driver starts. `node` is another copy of the executable, of another name. */
  program(version: string, node = windowsNode(version)): ParticipantProgram {
    return {
      command: ['wine', node],
      entry: windowsPath(join(this.#installed, 'dist', 'index.js')),
      participant: windowsPath(program.participant),
      env: this.#env,
    };
  }

  /** Runs a program until the end of the test at the latest. */
  spawn(executable: string, args: readonly string[], stdio: StdioOptions): ChildProcess {
    const env = { ...process.env, ...this.#env };
    const child = spawn('wine', [executable, ...args], { stdio, env });
    this.#started.add(child);
    child.once('exit', () => {
      this.#started.delete(child);
    });
    return child;
  }

  /** A program that keeps a file open without sharing deletion until it is told to go. */
  async blockDeletion(path: string, scratch: string): Promise<() => void> {
    const executable = join(scratch, 'reader.exe');
    compileReader(executable);
    const ready = join(scratch, 'ready');
    const go = join(scratch, 'go');
    const child = this.spawn(executable, [path, ready, go].map(windowsPath), 'ignore');
    let ended = false;
    child.once('exit', () => {
      ended = true;
    });
    await until('the reader has the file open', () => {
      if (ended) throw new Error(`the reader ended with ${String(child.exitCode)}`);
      return existsSync(ready);
    });
    return () => {
      mkdirSync(go);
    };
  }

  killAll(): void {
    for (const { pid } of this.#started) if (pid !== undefined) killNow(pid);
  }

  /** Ends what Wine keeps running in the background. Only for this Windows. */
  stop(): void {
    this.killAll();
    if (existsSync(this.#env.WINEPREFIX)) this.#run('wineserver', '--kill');
  }

  #makePrefix(): void {
    const { WINEPREFIX: prefix } = this.#env;
    if (existsSync(join(prefix, 'made'))) return;
    rmSync(prefix, { recursive: true, force: true });
    mkdirSync(dirname(prefix), { recursive: true });
    this.#run('wineboot', '--init');
    this.#run('wine', 'winecfg', '/v', 'win10');
    // What it has in memory of the registry is written when it ends.
    this.#run('wineserver', '--wait');
    mkdirSync(join(prefix, 'made'));
  }

  #run(command: string, ...args: string[]): void {
    execFileSync(command, args, { stdio: 'ignore', env: { ...process.env, ...this.#env } });
  }
}

/** The built package with the addon as it is compiled now, as npm would lay it out. */
function installBuilt(directory: string): string {
  execFileSync(process.execPath, [join(packageRoot, '.ci', 'cross-build.mjs'), 'win32-x64'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const installed = join(directory, 'package');
  const prebuilds = join(installed, 'prebuilds', 'win32-x64');
  mkdirSync(prebuilds, { recursive: true });
  for (const name of ['package.json', 'dist']) {
    cpSync(join(packageRoot, name), join(installed, name), { recursive: true });
  }
  cpSync(join(crossFolder, 'win32-x64', 'bucketlock.node'), join(prebuilds, 'bucketlock.node'));
  return installed;
}

function compileReader(executable: string): void {
  const source = new URL('../fixtures/reader-without-delete-sharing.c', import.meta.url);
  const args = ['-municode', '-o', `${executable}.new`, fileURLToPath(source)];
  execFileSync('x86_64-w64-mingw32-gcc-posix', args);
  renameSync(`${executable}.new`, executable);
}

/**
 * Wine for the tests of one file. The package is installed below `directory`, by `install`, which
 * answers its folder.
 */
export function useWine(
  directory: () => string,
  isPossible: () => boolean,
  install: (directory: string) => string = installBuilt,
): Wine {
  const wine = new Wine();
  let forget: () => void = () => undefined;
  beforeAll(() => {
    if (!isPossible()) return;
    forget = onExit(() => {
      wine.stop();
    });
    wine.start(() => install(directory()));
  });
  afterEach(() => {
    wine.killAll();
  });
  afterAll(() => {
    if (!isPossible()) return;
    wine.stop();
    forget();
  });
  return wine;
}
