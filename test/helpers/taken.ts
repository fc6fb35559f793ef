import type { Hold, WireReport } from './protocol.js';

/** What an attempt answered, which must have succeeded. */
export function taken(hold: Hold | null): Hold {
  if (hold === null) throw new Error('the attempt found the lock held');
  return hold;
}

/** The token of the record that was reported. */
export function tokenOf({ token }: WireReport): string {
  if (token === undefined) throw new Error('the report has no token');
  return token;
}
