import { listenForAbort } from './abort-listeners.js';
import { releaseWithin } from './blocked-release.js';
import type { Deadline } from './deadline.js';
import { diagnostics } from './diagnostics.js';
import { retainForExit } from './engagement.js';
import { toLockReport } from './lock-report.js';
import { LOCKFILE_UNLINK_RETRY_MS } from './lockfile-removal.js';
import type { NativeAddon, NativeAttempt, NativeBucketSpec } from './native.js';
import { errorOf } from './outcome-errors.js';
import { warn } from './warn.js';

/** Longest stay in native code: between two slices the thread can be terminated. */
const SLICE_MS = 50;

/**
 * One attempt on libuv's pool. An abort rejects at once. With `patience`, undefined: the pool did
 * not come to it in that time, and the attempt is given up.
 */
export async function attempt(
  addon: NativeAddon,
  spec: NativeBucketSpec,
  signal: AbortSignal | undefined,
  patience?: Deadline,
): Promise<NativeAttempt | undefined> {
  const pending = addon.bucketAttempt(spec);
  let delivered: NativeAttempt | undefined;
  const settled = pending.settled.then((outcome) => (delivered = outcome));
  await firstOf(settled, signal, patience);
  if (delivered === undefined) {
    addon.cancelAttempt(pending.request);
    // What it still wins is given back on the pool: an exit in the meantime waits for that.
    keepForExit(addon, settled);
  } else if (signal?.aborted === true) {
    keepForExit(addon, giveBack(addon, spec.directory, noted(spec, delivered)));
  }
  signal?.throwIfAborted();
  return delivered === undefined ? undefined : noted(spec, delivered);
}

/** One attempt on this thread. */
export function attemptSync(addon: NativeAddon, spec: NativeBucketSpec): NativeAttempt {
  return noted(spec, addon.bucketAttemptSync(spec));
}

/** Stands in line until granted, the deadline (then: why it is busy) or an abort (rejects). */
export async function waitInLine(
  addon: NativeAddon,
  spec: NativeBucketSpec,
  attempted: boolean,
  deadline: Deadline,
  signal: AbortSignal | undefined,
): Promise<NativeAttempt> {
  const wait = addon.bucketWait(spec, attempted);
  let delivered: NativeAttempt | undefined;
  // An answer that is delivered in the same turn as an abort is seen before the wait is cancelled.
  const settled = wait.settled.then((outcome) => (delivered = outcome));
  await firstOf(settled, signal, deadline);
  const outcome = noted(spec, delivered ?? addon.cancelWait(wait.request));
  if (signal?.aborted === true) {
    keepForExit(addon, giveBack(addon, spec.directory, outcome));
    signal.throwIfAborted();
  }
  return outcome;
}

/** `waitInLine` on this thread. */
export function waitInLineSync(
  addon: NativeAddon,
  spec: NativeBucketSpec,
  deadline: Deadline,
  signal: AbortSignal | undefined,
): NativeAttempt {
  const request = addon.bucketWaitSync(spec, true);
  if (typeof request !== 'number') return request;
  for (;;) {
    const remainingMs = deadline.remainingMs;
    if (remainingMs <= 0) return noted(spec, addon.cancelWait(request));
    const outcome = addon.waitSlice(request, Math.min(SLICE_MS, Math.ceil(remainingMs)));
    if (outcome !== undefined) return noted(spec, outcome);
    if (signal?.aborted === true) {
      giveBackSync(addon, spec.directory, noted(spec, addon.cancelWait(request)));
      signal.throwIfAborted();
    }
  }
}

/** Publishes what the outcome says of a dead holder. */
function noted(spec: NativeBucketSpec, outcome: NativeAttempt): NativeAttempt {
  if (outcome.reclaimed !== undefined) {
    const holder = toLockReport(outcome.reclaimed);
    diagnostics.reclaim.heard?.publish({ kind: 'bucket', path: spec.directory, holder });
  }
  return outcome;
}

/** Resolves undefined at an abort or the deadline; leaves neither listener nor timer behind. */
async function firstOf<T>(
  settling: Promise<T>,
  signal: AbortSignal | undefined,
  deadline: Deadline | undefined,
): Promise<T | undefined> {
  const { promise: interrupted, interrupt } = interruption();
  const stopListening = signal === undefined ? undefined : listenForAbort(signal, interrupt);
  const disarm = deadline?.arm(interrupt);
  try {
    return await Promise.race([settling, interrupted]);
  } finally {
    stopListening?.();
    disarm?.();
  }
}

function interruption(): { readonly promise: Promise<undefined>; readonly interrupt: () => void } {
  let interrupt = (): void => undefined;
  const promise = new Promise<undefined>((resolve) => {
    interrupt = () => {
      resolve(undefined);
    };
  });
  return { promise, interrupt };
}

/** An exit before the work is done waits for it, and gives back what it has not. */
function keepForExit(addon: NativeAddon, work: Promise<unknown>): void {
  void work.catch(warn).finally(retainForExit(addon));
}

/** Releases what a call was granted that nobody waits for any more. */
async function giveBack(
  addon: NativeAddon,
  directory: string,
  outcome: NativeAttempt,
): Promise<void> {
  if (outcome.outcome !== 'acquired') return;
  const { hold } = outcome;
  const release = await releaseWithin(addon, hold, directory, LOCKFILE_UNLINK_RETRY_MS);
  if (release.outcome === 'failed') throw errorOf(release, directory, 'give back');
}

function giveBackSync(addon: NativeAddon, directory: string, outcome: NativeAttempt): void {
  if (outcome.outcome !== 'acquired') return;
  const release = addon.releaseSync(outcome.hold);
  if (release.outcome === 'failed') warn(errorOf(release, directory, 'give back'));
  // An abort does not wait for other programs.
  if (release.outcome === 'blocked') {
    keepForExit(addon, giveBack(addon, directory, outcome));
  }
}
