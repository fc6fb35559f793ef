import { listenForAbort } from './abort-listeners.js';
import type { Deadline } from './deadline.js';
import type { NativeNamedCalls, NativeNamedHolder } from './native-named.js';

/** What is asked of the addon. */
export interface NamedRequest {
  readonly key: string;
  readonly label: string | undefined;
}

/** A claim that holds the lock; or else who held it at the deadline, if anybody did. */
export type NamedWaitEnd =
  { readonly claim: number } | { readonly holder: NativeNamedHolder | undefined };

/** Stands in line until granted, the deadline, or an abort, which rejects. */
export async function waitInLine(
  addon: NativeNamedCalls,
  { key, label }: NamedRequest,
  deadline: Deadline,
  signal: AbortSignal | undefined,
): Promise<NamedWaitEnd> {
  const claim = addon.namedWait(key, label);
  do {
    await firstOf(addon.namedGranted(claim), deadline, signal);
    if (signal?.aborted === true) {
      addon.namedRelease(claim);
      signal.throwIfAborted();
    }
    if (addon.namedTake(claim)) return { claim };
    // Granted, and passed over again: the thread had blocked before it could take it.
  } while (deadline.remainingMs > 0);
  return giveUp(addon, claim);
}

/** `waitInLine` on this thread. */
export function waitInLineSync(
  addon: NativeNamedCalls,
  { key, label }: NamedRequest,
  deadline: Deadline,
  signal: AbortSignal | undefined,
): NamedWaitEnd {
  const claim = addon.namedWaitSync(key, label);
  for (;;) {
    if (addon.namedWaitSlice(claim, deadline.sliceMs)) return { claim };
    if (deadline.remainingMs <= 0) return giveUp(addon, claim);
    if (signal?.aborted === true) {
      addon.namedRelease(claim);
      signal.throwIfAborted();
    }
  }
}

function giveUp(addon: NativeNamedCalls, claim: number): NamedWaitEnd {
  const holder = addon.namedHolder(claim);
  addon.namedRelease(claim);
  return { holder };
}

/** Resolves at the earliest of them; leaves neither listener nor timer behind. */
function firstOf(
  granted: Promise<void>,
  deadline: Deadline,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    let stopListening = (): void => undefined;
    // A deadline that has passed fires at once.
    let disarm = (): void => undefined;
    const end = (): void => {
      stopListening();
      disarm();
      resolve();
    };
    if (signal !== undefined) stopListening = listenForAbort(signal, end);
    disarm = deadline.arm(end);
    void granted.then(end);
  });
}
