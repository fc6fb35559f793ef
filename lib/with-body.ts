import { invalidReturn, invalidType } from './argument-errors.js';

/** @throws TypeError for the body of a `with` that is no function. */
export function checkBody(body: unknown): void {
  if (typeof body !== 'function') throw invalidType('body', 'a function', body);
}

/** @throws TypeError for what a `withSync` would have to wait for, and cannot. */
export function checkSyncResult(result: unknown): void {
  if (!isThenable(result)) return;
  throw invalidReturn('what body returns', 'no promise: withSync cannot wait for it');
}

function isThenable(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function'
  );
}
