import { AsyncLocalStorage } from 'node:async_hooks';
import { realDirectory, realDirectorySync } from './bucket-path.js';
import { LockReentryError } from './errors.js';
import { sharedInThread } from './thread-shared.js';

/** A bucket that this thread holds or has asked for. */
interface Claim {
  readonly directory: string;
  /** Found out when first needed: that is when somebody is about to wait anyway. */
  realPath?: string;
}

/** A `with` whose body is running. */
interface Frame {
  readonly claim: Claim;
  readonly isLive: () => boolean;
}

const claims = sharedInThread('claims.v1', () => new Set<Claim>());

const frames = sharedInThread('frames.v2', () => new AsyncLocalStorage<readonly Frame[]>());

/** Notes that this thread holds a bucket or has asked for it. Returns what forgets it again. */
export function claim(directory: string): () => void {
  const made: Claim = { directory };
  claims().add(made);
  return () => {
    claims().delete(made);
  };
}

/** For a synchronous wait, during which nothing of this thread can release anything. */
export function refuseOwnWait(directory: string): void {
  const known = [...claims()];
  if (known.length === 0) return;
  const realPath = realDirectorySync(directory);
  if (known.some((claim) => isSame(claim, realPath))) throw new LockReentryError(directory);
}

/** For a `with`: refuses one on a bucket that a `with` around it still holds. */
export async function refuseNested(directory: string): Promise<void> {
  const around = liveFrames();
  if (around.length === 0) return;
  const realPath = await realDirectory(directory);
  for (const { claim } of around) claim.realPath ??= await realDirectory(claim.directory);
  refuseIfSame(around, directory, realPath);
}

export function refuseNestedSync(directory: string): void {
  const around = liveFrames();
  if (around.length === 0) return;
  refuseIfSame(around, directory, realDirectorySync(directory));
}

/** Runs the body of a `with`, and all that it starts, as inside it for as long as it is live. */
export function runWithin<T>(directory: string, isLive: () => boolean, body: () => T): T {
  // Without those that are over: each may have been started inside the one before, without end.
  return frames().run([...liveFrames(), { claim: { directory }, isLive }], body);
}

function liveFrames(): Frame[] {
  return (frames().getStore() ?? []).filter((frame) => frame.isLive());
}

function refuseIfSame(around: readonly Frame[], directory: string, realPath: string): void {
  // A frame may have ended while real paths were being found out.
  if (around.some((frame) => frame.isLive() && isSame(frame.claim, realPath))) {
    throw new LockReentryError(directory);
  }
}

function isSame(claim: Claim, realPath: string): boolean {
  claim.realPath ??= realDirectorySync(claim.directory);
  return claim.realPath === realPath;
}
