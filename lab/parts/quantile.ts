// Quantiles of measurements.

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Interpolates between the two nearest values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const position = (sorted.length - 1) * share
  const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]]
  return low === undefined || high === undefined ? Number.NaN : low + (high - low) * (position % 1)
}
