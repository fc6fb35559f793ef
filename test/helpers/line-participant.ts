import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { mustEnd } from './must-block.js';
import { packageRoot } from './program.js';
import { windowsPath } from './wine.js';
import type { Wine } from './wine.js';

/** The lists of native/sources.gypi that concern this program. */
interface SourcesGypi {
  readonly variables: Readonly<
    Record<'cflags_cc' | 'defines_win32' | 'libraries_win32' | 'sources_win32', string[]>
  >;
}

/** These are the addon's alone. */
const NOT_LINKED = /\/(delay_load_hook|module)\.cc$/;

/** Compiles test/windows/line_participant.cc with the addon's sources for Windows. */
export function buildLineParticipant(executable: string): void {
  const text = readFileSync(join(packageRoot, 'native', 'sources.gypi'), 'utf8');
  const { variables } = JSON.parse(text) as SourcesGypi;
  const { cflags_cc, defines_win32, libraries_win32, sources_win32 } = variables;
  const sources = sources_win32.filter((name) => !NOT_LINKED.test(name));
  execFileSync('x86_64-w64-mingw32-g++-posix', [
    ...cflags_cc,
    ...defines_win32.map((define) => `-D${define}`),
    ...['-O1', `-I${join(packageRoot, 'native')}`, '-static', '-o', `${executable}.new`],
    fileURLToPath(new URL('../windows/line_participant.cc', import.meta.url)),
    ...sources.map((name) => join(packageRoot, name)),
    ...libraries_win32,
  ]);
  renameSync(`${executable}.new`, executable);
}

/** What test/windows/line_participant.cc can do in general, and with a directory. */
type Command = 'enter' | 'leave' | 'abandon' | 'unlock';
type DirectoryCommand = 'stand' | 'await' | 'in-line' | 'hold' | 'hold-guard-alone' | 'is-awaited';

/** A process that stands in line for a directory, below the addon. */
export class LineParticipant {
  readonly #input: NodeJS.WritableStream;
  readonly #ended: Promise<void>;
  readonly #pending = new Map<string, (answer: string) => void>();
  #commands = 0;

  constructor(wine: Wine, executable: string) {
    const child = wine.spawn(executable, [], ['pipe', 'pipe', 'ignore']);
    const { stdin, stdout } = child;
    if (stdin === null || stdout === null) throw new Error('the process has no pipes');
    this.#input = stdin;
    // A process that is gone is seen by its end.
    stdin.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        resolve();
      });
    });
    createInterface({ input: stdout, crlfDelay: Infinity }).on('line', (line) => {
      const [id = '', ...answer] = line.split(' ');
      this.#pending.get(id)?.(answer.join(' '));
      this.#pending.delete(id);
    });
  }

  /** Resolves with the answer, however late it comes. */
  begin(command: Command): Promise<string>;
  begin(command: DirectoryCommand, directory: string): Promise<string>;
  begin(command: string, directory = '/'): Promise<string> {
    this.#commands += 1;
    const id = String(this.#commands);
    const answer = new Promise<string>((resolve) => this.#pending.set(id, resolve));
    this.#input.write(`${id} ${command} ${windowsPath(directory)}\n`);
    return answer;
  }

  /** Resolves with the answer, which must not be long in coming. */
  call(command: Command): Promise<string>;
  call(command: DirectoryCommand, directory: string): Promise<string>;
  call(command: Command | DirectoryCommand, directory = '/'): Promise<string> {
    // One of the two overloads fits.
    return mustEnd(command, this.begin(command as DirectoryCommand, directory));
  }

  /** Has it end by TerminateProcess. */
  async terminate(): Promise<void> {
    this.#input.write('0 die\n');
    await mustEnd('TerminateProcess', this.#ended);
  }
}
