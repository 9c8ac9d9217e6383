/** A week: for the operator's default, and for what a buyer may ask. */
export const HOLD_MINUTES_MAX = 10_080
