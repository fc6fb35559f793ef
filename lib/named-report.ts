import type { LockReport } from './lock.js';
import type { NativeNamedCalls, NativeNamedHolder } from './native-named.js';

/** Names a claim, as the token in a lockfile names a record: 128 bits in hexadecimal. */
export function tokenOf(addon: NativeNamedCalls, claim: number): string {
  return addon.namedTokenPrefix + claim.toString(16).padStart(16, '0');
}

export function toNamedReport(
  addon: NativeNamedCalls,
  holder: NativeNamedHolder | undefined,
): LockReport {
  if (holder === undefined) return { state: 'free' };
  const { claim, sinceMs, label } = holder;
  return {
    state: 'held',
    evidence: 'in-process',
    pid: process.pid,
    process: 'alive',
    thisProcess: true,
    since: new Date(sinceMs),
    ...(label === undefined ? {} : { label }),
    token: tokenOf(addon, claim),
  };
}
