// The max duration of a hold. Separate from schema.ts, so that src/config.ts can import it.
// Knows nothing about orders.

/** One week: the max for `holdMinutes` in a request and for the setting HOLD_MINUTES. */
export const HOLD_MINUTES_MAX = 10_080
