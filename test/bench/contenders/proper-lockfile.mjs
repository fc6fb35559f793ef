import properLockfile from 'proper-lockfile';

export const cannot = {
  abort: 'proper-lockfile cannot cancel a wait',
};

/** How long it may not look, so that a release can fall on any moment in between. */
export const pollMs = 100;

// It does not wait unless told how to. Its retries grow without bounds by default; these poll about
// as often as a polling lock reasonably may.
const retries = { forever: true, minTimeout: 10, maxTimeout: pollMs, factor: 2, randomize: true };

export async function open(directory, { staleMs = 10_000 } = {}) {
  const options = { retries, stale: staleMs };
  return {
    acquire: () => properLockfile.lock(directory, options),
    acquireSync: () => properLockfile.lockSync(directory),
  };
}
