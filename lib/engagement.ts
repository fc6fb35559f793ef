import { exitRegistry } from './exit-registry.js';
import type { ExitReleaser } from './exit-releasers.js';
import type { NativeAddon } from './native.js';
import { claim } from './reentry.js';

/**
 * That this thread is after a bucket, or holds it: a wait of its own for it would wait for itself,
 * and an exit in the meantime gives back what it has won or may still win.
 */
export class Engagement {
  /** It is not held after all: from here on a wait for it may come to an end. */
  readonly forget: () => void;
  readonly #unretain: () => void;

  constructor(addon: NativeAddon, directory: string) {
    this.forget = claim(directory);
    this.#unretain = retainForExit(addon);
  }

  end(): void {
    this.forget();
    this.#unretain();
  }
}

/** Has an exit give back what the addon wins and holds, until the function it returns is called. */
export function retainForExit(addon: NativeAddon): () => void {
  return exitRegistry().retain(exitReleaserOf(addon));
}

const exitReleasers = new WeakMap<NativeAddon, ExitReleaser>();

/** The same function for the same addon, so that the exit calls it once for all its locks. */
export function exitReleaserOf(addon: NativeAddon): ExitReleaser {
  const known = exitReleasers.get(addon);
  if (known !== undefined) return known;
  const made = (budgetMs: number): void => {
    addon.releaseAll(budgetMs);
  };
  exitReleasers.set(addon, made);
  return made;
}
