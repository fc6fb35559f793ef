import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach } from 'vitest';

import { childrenOf } from './proc.js';
import { program } from './program.js';
import { killNow, onExit } from './reaper.js';
import type { TempDir } from './temp-dir.js';
import { until } from './until.js';

export interface ScriptOptions {
  /** Constants that the script knows, by name. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Runs the script as another user. */
  readonly uid?: number;
  /** A program, with arguments, that becomes or starts its own arguments. */
  readonly wrapper?: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
}

/** How a process ended. */
export interface ScriptEnding {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** A process whose output, of both kinds, goes to a file. */
export class RunningScript {
  readonly pid: number;
  readonly ended: Promise<ScriptEnding>;
  readonly #output: string;
  #ending: ScriptEnding | undefined;

  constructor(child: ChildProcess, output: string) {
    if (child.pid === undefined) throw new Error(`${child.spawnfile} did not start`);
    this.pid = child.pid;
    this.#output = output;
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#ending = { code, signal, output: this.output };
        resolve(this.#ending);
      });
    });
  }

  get output(): string {
    return readFileSync(this.#output, 'utf8');
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  /** Waits until `text` has been printed. A process that ends without it fails at once. */
  async says(text: string): Promise<void> {
    const said = await until(`the process prints ${text}`, () => {
      const ending = this.#ending;
      return this.output.includes(text) ? 'said' : ending === undefined ? undefined : ending;
    });
    if (said !== 'said') throw new Error(`ended without printing ${text}: ${JSON.stringify(said)}`);
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }
}

/** Programs that tests write down in place. Each is gone after its test. */
export class Scripts {
  readonly #temp: TempDir;
  readonly #running = new Set<RunningScript>();
  #made = 0;

  constructor(temp: TempDir) {
    this.#temp = temp;
  }

  /** Starts a module that has the package's exports as `bucketlock`, and `values`. */
  start(body: string, { values = {}, wrapper, ...options }: ScriptOptions = {}): RunningScript {
    this.#made += 1;
    const file = join(this.#temp.path, `script-${this.#made}.mjs`);
    const entry = JSON.stringify(pathToFileURL(program.entry).href);
    const constants = Object.entries(values).map(
      ([name, value]) => `const ${name} = ${JSON.stringify(value)};\n`,
    );
    writeFileSync(
      file,
      `import * as bucketlock from ${entry};\n${constants.join('')}const { BucketLock } = bucketlock;\n${body}\n`,
    );
    return this.startProgram([...(wrapper ?? []), program.node, file], options);
  }

  startProgram(
    command: readonly string[],
    { uid, env }: Pick<ScriptOptions, 'uid' | 'env'> = {},
  ): RunningScript {
    this.#made += 1;
    const output = join(this.#temp.path, `output-${this.#made}.txt`);
    const descriptor = openSync(output, 'w');
    const [file = '', ...args] = command;
    const child = spawn(file, args, {
      stdio: ['ignore', descriptor, descriptor],
      env: { ...process.env, ...env },
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    closeSync(descriptor);
    const script = new RunningScript(child, output);
    this.#running.add(script);
    return script;
  }

  /** Starts, and answers how it ended. */
  run(body: string, options?: ScriptOptions): Promise<ScriptEnding> {
    return this.start(body, options).ended;
  }

  async endTest(): Promise<void> {
    this.killAllNow();
    await Promise.all([...this.#running].map((script) => script.ended));
    this.#running.clear();
  }

  killAllNow(): void {
    for (const { pid, hasEnded } of this.#running) {
      if (hasEnded) continue;
      for (const child of [...childrenOf(pid), pid]) killNow(child);
    }
  }
}

export function useScripts(temp: TempDir): Scripts {
  const scripts = new Scripts(temp);
  onExit(() => {
    scripts.killAllNow();
  });
  afterEach(() => scripts.endTest());
  return scripts;
}
