import { releaseWithin } from './blocked-release.js';
import type { Deadline } from './deadline.js';
import { diagnostics } from './diagnostics.js';
import { engage } from './engagement.js';
import { toLockReport } from './lock-report.js';
import { LOCKFILE_UNLINK_RETRY_MS } from './lockfile-removal.js';
import type { NativeAddon, NativeAttempt, NativeBucketSpec } from './native.js';
import { errorOf } from './outcome-errors.js';
import { warn } from './warn.js';

/** Longest stay in native code: between two slices the thread can be terminated. */
const SLICE_MS = 50;

/**
 * One attempt. An abort rejects at once, though the attempt cannot be called back: what it still
 * brings is given back then.
 */
export async function attempt(
  addon: NativeAddon,
  spec: NativeBucketSpec,
  signal: AbortSignal | undefined,
): Promise<NativeAttempt> {
  const attempted = addon.bucketAttempt(spec);
  const outcome = await firstOf(attempted, signal, undefined);
  if (outcome !== undefined) return noted(spec, outcome);
  const disengage = engage(addon, spec.directory);
  attempted
    .then((late) => giveBack(addon, spec.directory, noted(spec, late)))
    .catch(warn)
    .finally(disengage);
  signal?.throwIfAborted();
  return attempted;
}

/** One attempt on this thread. */
export function attemptSync(addon: NativeAddon, spec: NativeBucketSpec): NativeAttempt {
  return noted(spec, addon.bucketAttemptSync(spec));
}

/** Stands in line until granted, the deadline (then: why it is busy) or an abort (rejects). */
export async function waitInLine(
  addon: NativeAddon,
  spec: NativeBucketSpec,
  deadline: Deadline,
  signal: AbortSignal | undefined,
): Promise<NativeAttempt> {
  const wait = addon.bucketWait(spec);
  let delivered: NativeAttempt | undefined;
  // An answer that is delivered in the same turn as an abort is seen before the wait is cancelled.
  const settled = wait.settled.then((outcome) => (delivered = outcome));
  await firstOf(settled, signal, deadline);
  const outcome = noted(spec, delivered ?? addon.cancelWait(wait.request));
  if (signal?.aborted === true) {
    giveBack(addon, spec.directory, outcome).catch(warn);
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
  const request = addon.bucketWaitSync(spec);
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
  signal?.addEventListener('abort', interrupt);
  const disarm = deadline?.arm(interrupt);
  try {
    return await Promise.race([settling, interrupted]);
  } finally {
    signal?.removeEventListener('abort', interrupt);
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
  if (release.outcome === 'blocked') giveBack(addon, directory, outcome).catch(warn);
}
