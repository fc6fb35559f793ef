import { ExitReleasers } from './exit-releasers.js';
import type { ExitReleaser } from './exit-releasers.js';
import { sharedInThread } from './thread-shared.js';

/** How often the listener is taken away at most: to add and remove it with every lock costs. */
const LINGER_MS = 100;

/**
 * Releases what is still held when the thread exits. Listens from the first lock that is held until
 * shortly after the last is released.
 */
export class ExitRegistry {
  readonly #releasers = new ExitReleasers(
    () => {
      this.#listen();
    },
    () => {
      this.#leaveSoon();
    },
  );
  #isListening = false;
  #isLeaving = false;

  /** Counts one more held lock. Returns what counts it off; calling that twice counts once. */
  retain(releaser: ExitReleaser): () => void {
    return this.#releasers.retain(releaser);
  }

  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    process.on('exit', this.#onExit);
  }

  #leaveSoon(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    setTimeout(this.#leave, LINGER_MS).unref();
  }

  readonly #leave = (): void => {
    this.#isLeaving = false;
    if (!this.#releasers.isEmpty) return;
    this.#isListening = false;
    process.off('exit', this.#onExit);
  };

  readonly #onExit = (): void => {
    this.#releasers.releaseAll();
  };
}

/** The registry of this thread. */
export const exitRegistry: () => Pick<ExitRegistry, 'retain'> = sharedInThread(
  'exit-registry.v1',
  () => new ExitRegistry(),
);
