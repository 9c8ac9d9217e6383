// What reads need to know about holds: whether expired ones have been swept. src/orders/holds.ts implements it.
// Keeps the code that reads pets independent of orders.

export interface FreshHolds {
  /** Resolves once expired holds are swept; undefined if no wait is needed. Never rejects. */
  waitUntilFresh: () => Promise<void> | undefined
}
