// Lets reads wait until expired holds have been swept. src/store/holds/sweep.ts implements this interface.
// It keeps the code that reads pets independent of orders.

export interface FreshHolds {
  /** Returns a promise that resolves once expired holds are swept, or undefined if no wait is needed. Never rejects. */
  waitUntilFresh: () => Promise<void> | undefined
}
