import { diagnostics } from './diagnostics.js';
import type { NamedLockId } from './diagnostics.js';
import type { SyncHeldLock } from './lock.js';
import { tokenOf } from './named-report.js';
import type { NativeNamedCalls } from './native-named.js';

/** A named lock that is held. Nobody but its holder can end that, so that it is never lost. */
export class HeldNamedLock implements SyncHeldLock {
  readonly name: string;
  readonly #addon: NativeNamedCalls;
  readonly #lock: NamedLockId;
  readonly #claim: number;
  #released = false;
  #controller: AbortController | undefined;

  constructor(addon: NativeNamedCalls, lock: NamedLockId, claim: number) {
    this.name = lock.name;
    this.#addon = addon;
    this.#lock = lock;
    this.#claim = claim;
  }

  get token(): string {
    return tokenOf(this.#addon, this.#claim);
  }

  get released(): boolean {
    return this.#released;
  }

  /** Never aborts. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  verify(): Promise<boolean> {
    return Promise.resolve(this.verifySync());
  }

  verifySync(): boolean {
    return !this.#released;
  }

  release(): Promise<boolean> {
    return Promise.resolve(this.releaseSync());
  }

  releaseSync(): boolean {
    if (this.#released) return true;
    this.#released = true;
    this.#addon.namedRelease(this.#claim);
    diagnostics.release.heard?.publish({ ...this.#lock, token: this.token });
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  [Symbol.dispose](): void {
    this.releaseSync();
  }
}
