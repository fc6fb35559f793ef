/** Whoever holds a named lock. */
export interface NativeNamedHolder {
  readonly claim: number;
  readonly sinceMs: number;
  readonly label?: string;
}

/** Why a named lock was not to be had at once. */
export interface NativeNamedBusy {
  readonly holder: NativeNamedHolder;
  /** This thread holds it itself, or has an asynchronous claim in its line. */
  readonly own: boolean;
}

/**
 * The addon's calls for named locks. A name is any string; a claim on one is a number that no other
 * claim in the process ever has. It lives until `namedRelease`, or until this environment ends.
 */
export interface NativeNamedCalls {
  /** Tells the claims of this process from those of every other: 64 random bits in hexadecimal. */
  readonly namedTokenPrefix: string;

  /** Answers a claim that holds the lock, if it is to be had at once. */
  namedAttempt(name: string, label: string | undefined): number | NativeNamedBusy;
  /** Answers a claim that stands in line, and keeps the event loop alive until it is taken. */
  namedWait(name: string, label: string | undefined): number;
  /** The same for a thread that will call `namedWaitSlice` until it has what it waits for. */
  namedWaitSync(name: string, label: string | undefined): number;

  /** Resolves when `namedTake` is worth a try, or the claim is gone. One at a time for each claim. */
  namedGranted(claim: number): Promise<void>;
  /** Whether the claim holds the lock. False even after a grant, if the thread blocked meanwhile. */
  namedTake(claim: number): boolean;
  /** Blocks until the claim holds the lock, for `sliceMs` at most. False: it does not yet. */
  namedWaitSlice(claim: number, sliceMs: number): boolean;
  /** Who holds what the claim waits for. */
  namedHolder(claim: number): NativeNamedHolder | undefined;
  /** Releases, or leaves the line. False: there is no such claim any more. */
  namedRelease(claim: number): boolean;
  namedInspect(name: string): NativeNamedHolder | undefined;
}
