/** Nanoseconds of the monotonic clock. */
export function now() {
  return Number(process.hrtime.bigint());
}
