/** Nanoseconds a turn, of `count` turns one after the other. */
export async function time(count, turn) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < count; i += 1) await turn();
  return Number(process.hrtime.bigint() - start) / count;
}

export function timeSync(count, turn) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < count; i += 1) turn();
  return Number(process.hrtime.bigint() - start) / count;
}
