// Lets reads wait until expired holds have been swept: src/http/fresh-holds.ts waits, src/store/holds/sweep.ts sweeps.

export interface FreshHolds {
  /** Returns a promise that resolves once expired holds are swept, or undefined if no wait is needed. Never rejects. */
  waitUntilFresh: () => Promise<void> | undefined
}
