// The max duration of a hold. Separate from src/store/orders/schema.ts, so that src/config/config.ts can import it.

/** One week: the max for `holdMinutes` in a request and for the setting HOLD_MINUTES. */
export const HOLD_MINUTES_MAX = 10_080
