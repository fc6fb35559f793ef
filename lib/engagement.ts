import { exitRegistry } from './exit-registry.js';
import type { ExitReleaser } from './exit-releasers.js';
import type { NativeAddon } from './native.js';
import { claim } from './reentry.js';

/**
 * Notes that this thread is after a bucket: a wait of its own for it would wait for itself, and an
 * exit in the meantime gives back what may still be won. Returns what ends that.
 */
export function engage(addon: NativeAddon, directory: string): () => void {
  const forget = claim(directory);
  const unretain = retainForExit(addon);
  return () => {
    forget();
    unretain();
  };
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
