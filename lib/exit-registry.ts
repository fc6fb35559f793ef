import { ExitReleasers } from './exit-releasers.js';
import type { ExitReleaser } from './exit-releasers.js';
import { sharedInThread } from './thread-shared.js';

/** Releases what is still held when the thread exits. Listens only while something is held. */
export class ExitRegistry {
  readonly #releasers = new ExitReleasers(
    () => process.on('exit', this.#onExit),
    () => process.off('exit', this.#onExit),
  );

  /** Counts one more held lock. Returns what counts it off; calling that twice counts once. */
  retain(releaser: ExitReleaser): () => void {
    return this.#releasers.retain(releaser);
  }

  readonly #onExit = (): void => {
    this.#releasers.releaseAll();
  };
}

/** The registry of this thread. */
export function exitRegistry(): Pick<ExitRegistry, 'retain'> {
  return sharedInThread('exit-registry.v1', () => new ExitRegistry());
}
