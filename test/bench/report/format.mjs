/** Three digits that count; more before the point where there are. */
export function digits(value) {
  // A quotient by what was never served.
  if (!Number.isFinite(value)) return '∞';
  if (value === 0) return '0';
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(decimals, 4));
}

/** The median and, of several samples, half of the range between the quartiles, in per cent. */
export function withSpread({ median, lower, upper, count }, scale = 1) {
  const text = digits(median * scale);
  if (count < 2 || median === 0) return text;
  return `${text} ±${(((upper - lower) / 2 / median) * 100).toFixed(0)}%`;
}

export const MICROSECONDS = 1 / 1e3;
export const MILLISECONDS = 1 / 1e6;
