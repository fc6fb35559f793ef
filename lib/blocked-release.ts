import { retryWhileBlocked, retryWhileBlockedSync } from './blocked-retry.js';
import { LockReleaseBlockedError } from './errors.js';
import type { NativeAddon, NativeBlocked, NativeRelease } from './native.js';
import { errorOf } from './outcome-errors.js';

/** What a release comes to that nobody's open handle has blocked. */
export type UnblockedRelease = Exclude<NativeRelease, NativeBlocked>;

/**
 * Releases a hold, and tries again while another program's open handle forbids it: on Windows
 * nobody else can clear that away.
 *
 * @throws LockReleaseBlockedError after `retryMs`; it is still held then.
 */
export async function releaseWithin(
  addon: NativeAddon,
  hold: number,
  directory: string,
  retryMs: number,
): Promise<UnblockedRelease> {
  const first = await addon.release(hold);
  if (first.outcome !== 'blocked') return first;
  const release = await retryWhileBlocked(first, () => addon.release(hold), isBlocked, retryMs);
  return unblocked(release, directory, retryMs);
}

/** `releaseWithin` on the calling thread. */
export function releaseWithinSync(
  addon: NativeAddon,
  hold: number,
  directory: string,
  retryMs: number,
): UnblockedRelease {
  const first = addon.releaseSync(hold);
  if (first.outcome !== 'blocked') return first;
  const release = retryWhileBlockedSync(first, () => addon.releaseSync(hold), isBlocked, retryMs);
  return unblocked(release, directory, retryMs);
}

function isBlocked({ outcome }: NativeRelease): boolean {
  return outcome === 'blocked';
}

function unblocked(release: NativeRelease, directory: string, retryMs: number): UnblockedRelease {
  if (release.outcome !== 'blocked') return release;
  throw new LockReleaseBlockedError(directory, retryMs, errorOf(release, directory, 'release'));
}
