import { isMainThread } from 'node:worker_threads';
import { ExitReleasers } from './exit-releasers.js';
import type { ExitReleaser } from './exit-releasers.js';
import { sharedInThread } from './thread-shared.js';

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/**
 * Releases what a death by a signal would leave behind, and then dies by that signal. For locks
 * that others judge by more than the kernel lock; listens only while such a one is held, for a
 * listener takes Ctrl+C away from a busy program.
 *
 * A program that listens itself decides alone what a signal means.
 */
export class ExitSignals {
  readonly #releasers = new ExitReleasers(
    () => {
      if (canDieBySignal()) this.#listen();
    },
    () => {
      for (const signal of SIGNALS) process.off(signal, this.#onSignal);
    },
  );

  /** Counts one more held lock. Returns what counts it off; calling that twice counts once. */
  retain(releaser: ExitReleaser): () => void {
    return this.#releasers.retain(releaser);
  }

  #listen(): void {
    for (const signal of SIGNALS) {
      // First: a listener of the program's for one time is gone by the time that later ones run.
      if (!process.listeners(signal).includes(this.#onSignal)) {
        process.prependListener(signal, this.#onSignal);
      }
    }
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    process.off(signal, this.#onSignal);
    if (process.listenerCount(signal) > 0) {
      // Out of sight while the program decides: some libraries die by a signal only if nobody else
      // listens.
      setImmediate(() => {
        if (!this.#releasers.isEmpty) this.#listen();
      });
      return;
    }
    try {
      this.#releasers.releaseAll();
    } finally {
      // Nobody listens any more, so this is the end, whatever could not be released.
      process.kill(process.pid, lethal(signal));
    }
  };
}

/** Workers get no signals; and the first process of a PID namespace does not die by them. */
function canDieBySignal(): boolean {
  return isMainThread && process.pid !== 1;
}

/** What to raise: Windows lets no process raise a hang-up. */
function lethal(signal: NodeJS.Signals): NodeJS.Signals {
  return process.platform === 'win32' && signal === 'SIGHUP' ? 'SIGTERM' : signal;
}

/** The signals of this thread. */
export const exitSignals: () => Pick<ExitSignals, 'retain'> = sharedInThread(
  'exit-signals.v1',
  () => new ExitSignals(),
);
