/** The longest delay that a Node.js timer can sleep; it takes longer ones for 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Longest stay in native code: between two slices the thread can be terminated. */
const SLICE_MS = 50;

/** A moment `waitMs` after its making, by a clock that nobody can set. */
export class Deadline {
  readonly #startedAt = performance.now();
  readonly #waitMs: number;

  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Zero or less once passed; `Infinity` where there is no deadline. */
  get remainingMs(): number {
    return this.#waitMs - this.elapsedMs;
  }

  /** How long a synchronous wait may stay in native code now, in whole milliseconds. */
  get sliceMs(): number {
    return Math.max(0, Math.min(SLICE_MS, Math.ceil(this.remainingMs)));
  }

  /** Calls `onPassed` once the moment has come. Returns what calls that off. */
  arm(onPassed: () => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    const sleep = (): void => {
      const remainingMs = this.remainingMs;
      if (remainingMs === Infinity) return;
      if (remainingMs <= 0) onPassed();
      // A timer may fire a fraction of a millisecond early: it is then armed again.
      else timer = setTimeout(sleep, Math.min(Math.ceil(remainingMs), MAX_TIMER_MS));
    };
    sleep();
    return () => {
      clearTimeout(timer);
    };
  }
}
