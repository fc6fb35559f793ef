import { sharedInThread } from './thread-shared.js';

/** Gives back all it knows of, within `budgetMs`. */
export type ExitReleaser = (budgetMs: number) => void;

/** What all releasers together may take of an exit. */
const EXIT_BUDGET_MS = 1_000;

/** Releases what is still held when the thread exits. Listens only while something is held. */
export class ExitRegistry {
  /** How many held locks each releaser answers for. */
  readonly #held = new Map<ExitReleaser, number>();

  /** Counts one more held lock. Returns what counts it off; calling that twice counts once. */
  retain(releaser: ExitReleaser): () => void {
    if (this.#held.size === 0) process.on('exit', this.#releaseAll);
    this.#held.set(releaser, (this.#held.get(releaser) ?? 0) + 1);
    let counted = true;
    return () => {
      if (!counted) return;
      counted = false;
      this.#drop(releaser);
    };
  }

  #drop(releaser: ExitReleaser): void {
    const left = (this.#held.get(releaser) ?? 0) - 1;
    if (left > 0) this.#held.set(releaser, left);
    else this.#held.delete(releaser);
    if (this.#held.size === 0) process.off('exit', this.#releaseAll);
  }

  readonly #releaseAll = (): void => {
    const end = performance.now() + EXIT_BUDGET_MS;
    const errors: unknown[] = [];
    for (const releaser of [...this.#held.keys()]) {
      try {
        releaser(Math.max(0, end - performance.now()));
      } catch (error) {
        // The others still get their turn.
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'releasing locks at exit failed');
  };
}

/** The registry of this thread. */
export function exitRegistry(): Pick<ExitRegistry, 'retain'> {
  return sharedInThread('exit-registry.v1', () => new ExitRegistry());
}
