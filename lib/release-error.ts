import { warn } from './warn.js';

/**
 * Attaches the error of a release to the error of the body that wins over it, as `releaseError`.
 * Where that cannot be done it is reported as a warning, for it must not be lost.
 */
export function attachReleaseError(bodyError: unknown, releaseError: unknown): void {
  // A body that stopped because the lock was lost has thrown that very error.
  if (bodyError === releaseError) return;
  const isFree =
    typeof bodyError === 'object' &&
    bodyError !== null &&
    !('releaseError' in bodyError) &&
    Reflect.defineProperty(bodyError, 'releaseError', {
      value: releaseError,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  if (!isFree) warn(releaseError);
}
