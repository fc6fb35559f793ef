/** What `fixtures/exercise.mjs` claims. */
export const CLAIMS = [
  'import and require give the same module',
  'a lock is taken and released',
  'a lock is taken and released synchronously',
  'an attempt on a held lock gives null',
  'with gives what its body gives, and releases',
  'a handle is disposable',
  'a wait ends at its deadline with an error that names the holder',
  'a wait that is aborted rejects with the reason',
  'many waits are all served, one at a time',
  'who would wait for itself is told',
  'a lock that is lost aborts the signal of its handle',
  'subscribers are told',
  'a named lock serves one at a time, in order',
  'a worker has locks of its own and shares the named ones',
  'processes are probed and lockfiles of others removed',
];

/** The ends that `fixtures/ending.mjs` comes to, and the exit code. */
export const ENDINGS = [
  ['its own end', 0],
  ['process.exit', 5],
  ['process.exit with a wait pending', 5],
  ['an uncaught exception', 1],
  ['an unhandled rejection', 1],
] as const;

interface Claimed {
  readonly claim: string;
  readonly error?: string;
}

/** By claim: `true`, or what it failed with. */
export function claimedIn(output: string): ReadonlyMap<string, string> {
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  return new Map(
    lines.map((line) => {
      const { claim, error = 'true' } = JSON.parse(line) as Claimed;
      return [claim, error];
    }),
  );
}
