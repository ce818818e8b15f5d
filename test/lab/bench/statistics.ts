/** The value below which a share of the sorted numbers lies (nearest rank); NaN where there are none. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

/** Such values of numbers in any order, as texts with one digit behind the point. */
export function percentiles(numbers: readonly number[], ...shares: readonly number[]): string[] {
  const sorted = numbers.toSorted((a, b) => a - b);
  return shares.map((share) => percentile(sorted, share).toFixed(1));
}

/** NaN where there are none. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (percentile(sorted, 0.5) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}
