import { releaseWithin, releaseWithinSync } from './blocked-release.js';
import type { UnblockedRelease } from './blocked-release.js';
import { diagnostics } from './diagnostics.js';
import { LockLostError } from './errors.js';
import type { LockLostReason } from './errors.js';
import type { SyncHeldLock } from './lock.js';
import type { NativeAcquired, NativeAddon, NativeVerdict } from './native.js';
import { errorOf } from './outcome-errors.js';

/** How a hold ends, and what has to be undone then. */
export interface HoldEnds {
  /** How long a release tries again while another program keeps the lockfile open. */
  readonly releaseRetryMs: number;
  /** The lock is no longer ours; called once, before `onReleased` if at all. */
  readonly onLost: () => void;
  /** The addon has forgotten the hold; called once. */
  readonly onReleased: () => void;
}

/** A bucket lock that is held. The addon knows it as `hold` until a release has succeeded. */
export class HeldBucket implements SyncHeldLock {
  readonly path: string;
  readonly token: string;
  readonly #addon: NativeAddon;
  readonly #hold: number;
  readonly #ends: HoldEnds;
  /** What `release` answers; undefined until one has succeeded. */
  #answer: boolean | undefined;
  /** The release under way, which concurrent calls share. */
  #releasing: Promise<boolean> | undefined;
  #loss: LockLostError | undefined;
  #controller: AbortController | undefined;

  constructor(addon: NativeAddon, path: string, acquired: NativeAcquired, ends: HoldEnds) {
    this.path = path;
    this.token = acquired.token;
    this.#addon = addon;
    this.#hold = acquired.hold;
    this.#ends = ends;
  }

  get released(): boolean {
    return this.#answer !== undefined;
  }

  /** How it was lost, once that has been found out. */
  get loss(): LockLostError | undefined {
    return this.#loss;
  }

  /** Made when first asked for: most holders never do. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#loss !== undefined) this.#controller.abort(this.#loss);
    }
    return this.#controller.signal;
  }

  async verify(): Promise<boolean> {
    if (this.#isOver) return false;
    return this.#judge(await this.#addon.verify(this.#hold));
  }

  verifySync(): boolean {
    if (this.#isOver) return false;
    return this.#judge(this.#addon.verifySync(this.#hold));
  }

  release(): Promise<boolean> {
    if (this.#answer !== undefined) return Promise.resolve(this.#answer);
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  releaseSync(): boolean {
    // With an asynchronous release under way the addon waits for it and gives its answer.
    if (this.#answer !== undefined) return this.#answer;
    const { releaseRetryMs } = this.#ends;
    return this.#settle(releaseWithinSync(this.#addon, this.#hold, this.path, releaseRetryMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  [Symbol.dispose](): void {
    this.releaseSync();
  }

  get #isOver(): boolean {
    return this.#answer !== undefined || this.#loss !== undefined;
  }

  async #release(): Promise<boolean> {
    try {
      const { releaseRetryMs } = this.#ends;
      return this.#settle(await releaseWithin(this.#addon, this.#hold, this.path, releaseRetryMs));
    } finally {
      this.#releasing = undefined;
    }
  }

  #settle(release: UnblockedRelease): boolean {
    // A synchronous release may have overtaken an asynchronous one: the first answer stays.
    if (this.#answer !== undefined) return this.#answer;
    if (release.outcome === 'failed') throw errorOf(release, this.path, 'release');
    this.#answer = release.outcome === 'released';
    if (release.outcome === 'lost') this.#lose(release.reason);
    else diagnostics.release.heard?.publish({ kind: 'bucket', path: this.path, token: this.token });
    this.#ends.onReleased();
    return this.#answer;
  }

  #judge(verdict: NativeVerdict): boolean {
    // Released while it was being looked at: then the verdict is about nothing.
    if (this.#answer !== undefined) return false;
    if (verdict.outcome === 'failed') throw errorOf(verdict, this.path, 'verify');
    if (verdict.outcome === 'lost') this.#lose(verdict.reason);
    return verdict.outcome === 'ours';
  }

  #lose(reason: LockLostReason): void {
    if (this.#loss !== undefined) return;
    this.#loss = new LockLostError(this.path, reason);
    this.#ends.onLost();
    diagnostics.lost.heard?.publish({ kind: 'bucket', path: this.path, token: this.token, reason });
    this.#controller?.abort(this.#loss);
  }
}
