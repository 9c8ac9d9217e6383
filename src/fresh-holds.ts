// What a reader needs to know of holds: whether expired ones have been swept. src/orders/holds.ts provides it.

export interface FreshHolds {
  /** Resolves once expired holds are swept; undefined if no wait is needed. Never rejects. */
  waitUntilFresh: () => Promise<void> | undefined
}
