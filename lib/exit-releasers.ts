/** Gives back all it knows of, within `budgetMs`. */
export type ExitReleaser = (budgetMs: number) => void;

/** What all releasers together may take of an exit. */
const EXIT_BUDGET_MS = 1_000;

/** What has to be released at some end of the thread, which is watched for only while needed. */
export class ExitReleasers {
  /** How many held locks each releaser answers for. */
  readonly #held = new Map<ExitReleaser, number>();
  readonly #watch: () => void;
  readonly #unwatch: () => void;

  constructor(watch: () => void, unwatch: () => void) {
    this.#watch = watch;
    this.#unwatch = unwatch;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  /** Counts one more held lock. Returns what counts it off; calling that twice counts once. */
  retain(releaser: ExitReleaser): () => void {
    if (this.isEmpty) this.#watch();
    this.#held.set(releaser, (this.#held.get(releaser) ?? 0) + 1);
    let counted = true;
    return () => {
      if (!counted) return;
      counted = false;
      this.#drop(releaser);
    };
  }

  /** Calls every releaser once. */
  releaseAll(): void {
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
  }

  #drop(releaser: ExitReleaser): void {
    const left = (this.#held.get(releaser) ?? 0) - 1;
    if (left > 0) this.#held.set(releaser, left);
    else this.#held.delete(releaser);
    if (this.isEmpty) this.#unwatch();
  }
}
