/** What is to be called for each signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `onAbort` when the signal aborts. Returns what calls that off. However many wait for one
 * signal, it gets one listener: Node.js warns of a leak from the eleventh on.
 */
export function listenForAbort(signal: AbortSignal, onAbort: () => void): () => void {
  let callbacks = waiting.get(signal);
  if (callbacks === undefined) {
    const made = new Set<() => void>();
    callbacks = made;
    waiting.set(signal, made);
    signal.addEventListener('abort', callAll);
  }
  const all = callbacks;
  all.add(onAbort);
  return () => {
    all.delete(onAbort);
    if (all.size > 0 || waiting.get(signal) !== all) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', callAll);
  };
}

function callAll(this: AbortSignal): void {
  const callbacks = waiting.get(this);
  if (callbacks === undefined) return;
  for (const callback of [...callbacks]) callback();
}
