import { AsyncLocalStorage } from 'node:async_hooks';
import { sharedInThread } from './thread-shared.js';

/** A named lock that a `with` holds whose body is running. */
interface Frame {
  readonly token: string;
  readonly released: boolean;
}

const frames = sharedInThread('named-frames.v1', () => new AsyncLocalStorage<readonly Frame[]>());

/** Runs the body of a `with`, and all that it starts, as inside it until it is released. */
export function runWithin<T>(frame: Frame, body: () => T): T {
  return frames().run([...liveFrames(), frame], body);
}

/** What the `with`s around this code hold. */
export function liveFrames(): readonly Frame[] {
  const around = frames().getStore() ?? [];
  return around.filter(({ released }) => !released);
}
