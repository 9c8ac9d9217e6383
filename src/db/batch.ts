// Batching: requests that arrive while a query is in flight wait and share the next query.
// A query serves only requests that arrived before it began, so every read sees every acknowledged write.
// If no query is in flight, a request starts one at once, so an idle service adds no delay.
import { AppError } from '../errors.ts'
import { QueryFailure } from './failures.ts'

export interface BatchLimits {
  /** Max number of items in one batch. */
  sizeMax: number
  /** Max number of batches in flight at once. */
  inFlightMax: number
  /** Max number of waiting requests. Further requests are rejected with 503 `overloaded`. */
  waitingMax: number
}

interface Waiter<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/**
 * Turns a function for many items into a function for one item, and batches its concurrent calls.
 * `work` returns the results in the order of the items. If an item makes a batch fail, each item is retried alone, so
 * that only the faulty item fails.
 */
export function batched<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { sizeMax, inFlightMax, waitingMax }: BatchLimits,
  observe: (size: number) => void = () => {},
): (item: Item) => Promise<Result> {
  let waiting: Waiter<Item, Result>[] = []
  let inFlight = 0

  function begin(): void {
    while (inFlight < inFlightMax && waiting.length > 0) {
      const batch = waiting.length <= sizeMax ? waiting : waiting.slice(0, sizeMax)
      waiting = waiting.length <= sizeMax ? [] : waiting.slice(sizeMax)
      inFlight += 1
      void run(batch)
    }
  }

  async function run(batch: Waiter<Item, Result>[]): Promise<void> {
    observe(batch.length)
    await settle(work, batch)
    inFlight -= 1
    begin()
  }

  return (item) => {
    if (waiting.length >= waitingMax) return Promise.reject(new AppError('overloaded'))
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    waiting.push({ item, resolve, reject })
    begin()
    return promise
  }
}

async function settle<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  batch: Waiter<Item, Result>[],
): Promise<void> {
  try {
    const results = await work(batch.map(({ item }) => item))
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
  } catch (error) {
    if (batch.length > 1 && error instanceof QueryFailure && error.failure === 'fault') {
      await Promise.all(batch.map((waiter) => settle(work, [waiter])))
      return
    }
    for (const { reject } of batch) reject(error)
  }
}

/** Runs the work once for all waiting requests that have the same key. */
export type Coalesce<Result> = (key: string, work: () => Promise<Result>) => Promise<Result>

interface Group<Result> {
  isRunning: boolean
  /** Requests that arrived after the current run began. The next run serves them. */
  next: Waiter<() => Promise<Result>, Result>[]
}

/** Like `batched`, for identical requests: one run in flight per key; requests that arrive later share the next run. */
export function coalesced<Result>(
  waitingMax: number,
  observe: (size: number) => void = () => {},
): Coalesce<Result> {
  const groups = new Map<string, Group<Result>>()
  let waiting = 0

  async function run(key: string, group: Group<Result>): Promise<void> {
    group.isRunning = true
    while (group.next.length > 0) {
      const waiters = group.next
      group.next = []
      waiting -= waiters.length
      observe(waiters.length)
      // The requests are identical, so the work of any of them serves all.
      await settle(async ([work]) => {
        const result = await (work as () => Promise<Result>)()
        return waiters.map(() => result)
      }, waiters)
    }
    groups.delete(key)
  }

  return (key, work) => {
    if (waiting >= waitingMax) return Promise.reject(new AppError('overloaded'))
    const group = groups.get(key) ?? { isRunning: false, next: [] }
    groups.set(key, group)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    group.next.push({ item: work, resolve, reject })
    waiting += 1
    if (!group.isRunning) void run(key, group)
    return promise
  }
}
