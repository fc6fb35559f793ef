/** What is told of samples, in their own unit. Half of them lie between `lower` and `upper`. */
export function summary(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  return {
    count: sorted.length,
    median: quantile(sorted, 0.5),
    lower: quantile(sorted, 0.25),
    upper: quantile(sorted, 0.75),
    p99: quantile(sorted, 0.99),
    min: sorted[0],
    max: sorted.at(-1),
  };
}

export function median(samples) {
  return quantile(
    [...samples].sort((a, b) => a - b),
    0.5,
  );
}

/** Of sorted samples, between the two nearest ones. */
function quantile(sorted, fraction) {
  const place = (sorted.length - 1) * fraction;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  return below + (above - below) * (place - Math.floor(place));
}
