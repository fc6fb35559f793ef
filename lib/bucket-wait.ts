import { listenForAbort } from './abort-listeners.js';
import { releaseWithin } from './blocked-release.js';
import type { Deadline } from './deadline.js';
import { diagnostics } from './diagnostics.js';
import { retainForExit } from './engagement.js';
import { toLockReport } from './lock-report.js';
import { LOCKFILE_UNLINK_RETRY_MS } from './lockfile-removal.js';
import type {
  NativeAddon,
  NativeAttempt,
  NativeBucketSpec,
  NativeFirstAttempt,
  NativeWait,
} from './native.js';
import { errorOf } from './outcome-errors.js';
import { losePatience } from './pool-patience.js';
import { warn } from './warn.js';

/** What is asked of the addon. */
export interface BucketRequest {
  readonly directory: string;
  readonly spec: NativeBucketSpec;
  readonly label: string | undefined;
  /** Behind those who stand in line already: where there are some, an attempt only looks. */
  readonly inTurn: boolean;
}

/**
 * Begins one attempt on libuv's pool, and keeps a place in the line of this process for it from
 * this moment on, if it is to be made in turn.
 */
export function beginAttempt(addon: NativeAddon, request: BucketRequest): NativeFirstAttempt {
  return addon.bucketAttempt(request.spec, request.label, request.inTurn);
}

/**
 * What the attempt comes to. An abort rejects at once. Undefined: none is made, since others of this
 * process are before us; or with `patienceMs`, the pool did not come to it in that time, and it is
 * given up.
 */
export function attempt(
  addon: NativeAddon,
  request: BucketRequest,
  { request: id, settled }: NativeFirstAttempt,
  signal: AbortSignal | undefined,
  patienceMs?: number,
): Promise<NativeAttempt | undefined> {
  if (settled === undefined) return Promise.resolve(undefined);
  const attempting = attemptOnPool(addon, request, { request: id, settled }, signal, patienceMs);
  return signal === undefined ? attempting : unlessAborted(addon, request, signal, attempting);
}

/** Resolves undefined as soon as it is given up. */
function attemptOnPool(
  addon: NativeAddon,
  request: BucketRequest,
  pending: NativeWait,
  signal: AbortSignal | undefined,
  patienceMs: number | undefined,
): Promise<NativeAttempt | undefined> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = (outcome: NativeAttempt | undefined): void => {
      isOver = true;
      keepPatience?.();
      stopListening?.();
      resolve(outcome === undefined ? undefined : noted(request, outcome));
    };
    const giveUp = (): void => {
      if (isOver) return;
      addon.cancelAttempt(pending.request);
      // What it still wins is given back on the pool: an exit in the meantime waits for that.
      keepForExit(addon, pending.settled);
      end(undefined);
    };
    // An outcome that is delivered in the same turn is seen before the attempt is cancelled.
    const interrupt = (): void => {
      queueMicrotask(giveUp);
    };
    const keepPatience = patienceMs === undefined ? undefined : losePatience(patienceMs, interrupt);
    const stopListening = signal === undefined ? undefined : listenForAbort(signal, interrupt);
    pending.settled.then((outcome) => {
      if (!isOver) end(outcome);
      else if (outcome !== undefined) noted(request, outcome);
    }, reject);
  });
}

/** Gives back what was won before an abort that came in the same turn. */
async function unlessAborted(
  addon: NativeAddon,
  request: BucketRequest,
  signal: AbortSignal,
  attempting: Promise<NativeAttempt | undefined>,
): Promise<NativeAttempt | undefined> {
  const outcome = await attempting;
  if (signal.aborted && outcome !== undefined) {
    keepForExit(addon, giveBack(addon, request.directory, outcome));
  }
  signal.throwIfAborted();
  return outcome;
}

/** One attempt on this thread. */
export function attemptSync(addon: NativeAddon, request: BucketRequest): NativeAttempt {
  return noted(request, addon.bucketAttemptSync(request.spec, request.label, request.inTurn));
}

/** What has gone before a wait. */
export interface BeforeWait {
  /** The request of the attempt that keeps a place in line. */
  readonly kept: number;
  readonly attempted: boolean;
  /** Ends the wait if it rejects. */
  readonly telling?: Promise<void> | undefined;
}

/** Stands in line until granted, the deadline (then: why it is busy) or an abort (rejects). */
export function waitInLine(
  addon: NativeAddon,
  request: BucketRequest,
  { kept, attempted, telling }: BeforeWait,
  deadline: Deadline,
  signal: AbortSignal | undefined,
): Promise<NativeAttempt> {
  return new Promise((resolve, reject) => {
    const wait = addon.bucketWait(request.spec, request.label, attempted, kept);
    let isOver = false;
    const end = (delivered: NativeAttempt | undefined, error?: unknown): void => {
      if (isOver) return;
      isOver = true;
      disarm();
      stopListening?.();
      const outcome = noted(request, delivered ?? addon.cancelWait(wait.request));
      if (error === undefined && signal?.aborted !== true) {
        resolve(outcome);
        return;
      }
      keepForExit(addon, giveBack(addon, request.directory, outcome));
      reject((error ?? signal?.reason) as Error);
    };
    // An answer that is delivered in the same turn is seen before the wait is cancelled.
    const interrupt = (): void => {
      queueMicrotask(() => {
        end(undefined);
      });
    };
    const disarm = deadline.arm(interrupt);
    const stopListening = signal === undefined ? undefined : listenForAbort(signal, interrupt);
    wait.settled.then(end, (error: unknown) => {
      end(undefined, error);
    });
    telling?.catch((error: unknown) => {
      end(undefined, error);
    });
  });
}

/** `waitInLine` on this thread. */
export function waitInLineSync(
  addon: NativeAddon,
  request: BucketRequest,
  deadline: Deadline,
  signal: AbortSignal | undefined,
): NativeAttempt {
  const wait = addon.bucketWaitSync(request.spec, request.label);
  if (typeof wait !== 'number') return wait;
  for (;;) {
    if (deadline.remainingMs <= 0) return noted(request, addon.cancelWait(wait));
    const outcome = addon.waitSlice(wait, deadline.sliceMs);
    if (outcome !== undefined) return noted(request, outcome);
    if (signal?.aborted === true) {
      giveBackSync(addon, request.directory, noted(request, addon.cancelWait(wait)));
      signal.throwIfAborted();
    }
  }
}

/** Publishes what the outcome says of a dead holder. */
function noted({ directory }: BucketRequest, outcome: NativeAttempt): NativeAttempt {
  if (outcome.reclaimed !== undefined) {
    const holder = toLockReport(outcome.reclaimed);
    diagnostics.reclaim.heard?.publish({ kind: 'bucket', path: directory, holder });
  }
  return outcome;
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
