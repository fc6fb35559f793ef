/** What a promise rejects with, which it must. */
export function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`resolved ${String(value)}`);
    },
    (reason: unknown) => reason,
  );
}
