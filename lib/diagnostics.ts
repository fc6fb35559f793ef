import { channel } from 'node:diagnostics_channel';
import { debuglog } from 'node:util';
import type { LockLostReason } from './errors.js';
import type { LockReport } from './lock.js';
import { quoted } from './quoted.js';

/**
 * Which named lock something is about.
 *
 * @example
 * ```ts
 * if (message.kind === 'named') console.log(message.name, message.scope);
 * ```
 */
export interface NamedLockId {
  readonly kind: 'named';
  readonly name: string;
  readonly scope?: string;
}

/** Which bucket lock: `path` is the bucket directory. */
interface BucketLockId {
  readonly kind: 'bucket';
  readonly path: string;
}

/**
 * The channels of `node:diagnostics_channel` that locks publish on, and the shape of what they
 * publish. A message is made only while somebody listens, in the thread that the lock is used in.
 * `NODE_DEBUG=bucketlock` prints each to stderr.
 *
 * What a subscriber throws never reaches the lock: Node.js reports it as an uncaught exception.
 * What is given back at exit is not published.
 *
 * @example
 * ```ts
 * import { subscribe } from 'node:diagnostics_channel';
 * import type { LockDiagnostics } from 'bucketlock';
 *
 * subscribe('bucketlock:wait', (message) => {
 *   const wait = message as LockDiagnostics['bucketlock:wait'];
 *   const lock = wait.kind === 'named' ? wait.name : wait.path;
 *   console.log(`${lock}: waiting for process ${wait.holder.pid}`);
 * });
 * ```
 */
export interface LockDiagnostics {
  /** A lock is ours. */
  'bucketlock:acquire': (BucketLockId | NamedLockId) & {
    readonly token: string;
    readonly label?: string;
    /** How long it had to wait, in milliseconds from the call; 0 if its first attempt succeeded. */
    readonly waitedMs: number;
  };
  /** An acquire has to wait; published when its `onWait` is called. */
  'bucketlock:wait': (BucketLockId | NamedLockId) & {
    readonly label?: string;
    readonly holder: LockReport;
    /** What is left to wait, in milliseconds; may be `Infinity`. */
    readonly waitMs: number;
  };
  /**
   * An acquire removed what a dead holder had left, whether it got the lock then or not. Of several
   * that one acquire removed, the last. Not published by an attempt that was given up meanwhile.
   */
  'bucketlock:reclaim': BucketLockId & {
    /** Its `evidence` is what proved the death. */
    readonly holder: LockReport;
  };
  /** A lock was released. One that was lost is not published here. */
  'bucketlock:release': (BucketLockId | NamedLockId) & {
    readonly token: string;
  };
  /** A lock was found to be no longer ours; published once for each. */
  'bucketlock:lost': BucketLockId & {
    readonly token: string;
    readonly reason: LockLostReason;
  };
  /** `unlinkLockfile` came to an end without an error. */
  'bucketlock:unlink': {
    /** The file. */
    readonly path: string;
    readonly outcome: 'removed' | 'absent' | 'blocked';
    readonly waitedMs: number;
    readonly reason?: string;
  };
}

const debug = debuglog('bucketlock');

/** One channel. */
class Topic<Name extends keyof LockDiagnostics> {
  readonly #name: Name;
  readonly #channel;

  constructor(name: Name) {
    this.#name = name;
    this.#channel = channel(name);
  }

  /** This, or undefined while nobody listens: then no message needs to be put together. */
  get heard(): this | undefined {
    return this.#channel.hasSubscribers || debug.enabled ? this : undefined;
  }

  publish(message: LockDiagnostics[Name]): void {
    this.#channel.publish(message);
    debug('%s %s', this.#name, quoted(message));
  }
}

/** The part of a message that says why the lock is taken, if anything does. */
export function labelOf({ label }: { readonly label: string | undefined }): {
  readonly label?: string;
} {
  return label === undefined ? {} : { label };
}

export const diagnostics = {
  acquire: new Topic('bucketlock:acquire'),
  wait: new Topic('bucketlock:wait'),
  reclaim: new Topic('bucketlock:reclaim'),
  release: new Topic('bucketlock:release'),
  lost: new Topic('bucketlock:lost'),
  unlink: new Topic('bucketlock:unlink'),
} as const;
