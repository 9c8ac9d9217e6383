// The max duration of a hold. Separate from schema.ts, so that src/config.ts can import it.
// Knows nothing about orders.

/** One week. Limits the operator's default and `holdMinutes` in a request. */
export const HOLD_MINUTES_MAX = 10_080
