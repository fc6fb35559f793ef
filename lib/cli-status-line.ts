import type { WriteStream } from 'node:tty';
import type { LockReport } from './lock.js';
import { describeHolder } from './lock-report.js';

/** How often the line is brought up to date. */
const REFRESH_MS = 1_000;
const CLEAR = '\r\u001b[K';

/** On a terminal, the line that says what is waited for, until it is cleared. */
export class StatusLine {
  readonly #stream: WriteStream;
  readonly #path: string;
  #timer: NodeJS.Timeout | undefined;
  #shown = false;

  constructor(stream: WriteStream, path: string) {
    this.#stream = stream;
    this.#path = path;
  }

  /** Shows the holder, and from then on whom `look` finds. Nothing where there is no terminal. */
  show(holder: LockReport, look: () => Promise<LockReport>): void {
    if (!this.#stream.isTTY) return;
    this.#write(holder);
    this.#timer = setInterval(() => {
      // A look that fails changes nothing: the acquire that goes on meets the same, and tells.
      look().then(
        (report) => {
          if (this.#shown) this.#write(report);
        },
        () => undefined,
      );
    }, REFRESH_MS);
  }

  clear(): void {
    clearInterval(this.#timer);
    if (this.#shown) this.#stream.write(CLEAR);
    this.#shown = false;
  }

  #write(report: LockReport): void {
    this.#shown = true;
    const text = `waiting for ${this.#path}: ${describeHolder(report)}`;
    // A line that wraps could not be cleared.
    const width = (this.#stream.columns || 80) - 1;
    this.#stream.write(CLEAR + text.slice(0, width));
  }
}
