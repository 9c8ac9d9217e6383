// Batching: requests that arrive while a query is in flight wait for the next query, which serves all of them.
// A query serves only requests that arrived before it began, so every read sees every acknowledged write.
// If no query is in flight, a request starts one at once, so an idle service adds no delay.
// A query that stalls, for example because its commit waits for a standby, does not hold up the next one.
import { AppError } from '../contract/errors.ts'
import { type BatchTrace, type QueuedSpan, runInBatchSpan, startWait } from './batch-spans.ts'
import { QueryFailure } from './connection/failures.ts'

/** A batch in flight for longer than this has stalled. It then no longer counts towards `inFlightMax`. */
export const STALLED_AFTER_MS = 250
/** Max number of stalled batches. At this number, no further batch starts. slots.ts limits their connections. */
const STALLED_MAX = 8

export interface BatchLimits {
  /** Max number of items in one batch. */
  sizeMax: number
  /** Max number of batches in flight at once, except stalled ones. */
  inFlightMax: number
  /** Max number of waiting requests. Further requests are rejected with 503 `overloaded`. */
  waitingMax: number
}

interface Waiter<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
  /** When the request began to wait, in milliseconds. */
  since: number
  /** Undefined if tracing is off or the request is not sampled. */
  span: QueuedSpan | undefined
}

/** Called for each batch, with its size and the seconds that its first request has waited. */
export type ObserveSize = (size: number, waitSeconds: number) => void

/**
 * Turns a function for many items into a function for one item, and batches its concurrent calls.
 * `work` returns the results in the order of the items. If an item makes a batch fail, each item is retried alone, so
 * that only the faulty item fails.
 */
export function batched<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { sizeMax, inFlightMax, waitingMax }: BatchLimits,
  observe: ObserveSize = () => {},
  trace?: BatchTrace,
): (item: Item) => Promise<Result> {
  let waiting: Waiter<Item, Result>[] = []
  const lane = openLane(inFlightMax, begin)

  function begin(): void {
    while (waiting.length > 0 && lane.hasRoom()) {
      const batch = waiting.length <= sizeMax ? waiting : waiting.slice(0, sizeMax)
      waiting = waiting.length <= sizeMax ? [] : waiting.slice(sizeMax)
      observe(batch.length, waitSeconds(batch))
      lane.run(() => settle(work, batch, trace))
    }
  }

  return (item) => {
    if (waiting.length >= waitingMax) return Promise.reject(new AppError('overloaded'))
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    waiting.push({ item, resolve, reject, since: performance.now(), span: trace && startWait(trace) })
    begin()
    return promise
  }
}

function waitSeconds([first]: readonly { since: number }[]): number {
  return first === undefined ? 0 : (performance.now() - first.since) / 1_000
}

interface Lane {
  hasRoom: () => boolean
  run: (work: () => Promise<void>) => void
  isEmpty: () => boolean
}

/** Limits how many runs are in flight, and calls `onRoom` when there is room for another one. */
function openLane(inFlightMax: number, onRoom: () => void): Lane {
  let inFlight = 0
  let stalled = 0

  async function run(work: () => Promise<void>): Promise<void> {
    let hasStalled = false
    inFlight += 1
    const timer = setTimeout(() => {
      hasStalled = true
      inFlight -= 1
      stalled += 1
      onRoom()
    }, STALLED_AFTER_MS)
    await work()
    clearTimeout(timer)
    if (hasStalled) stalled -= 1
    else inFlight -= 1
    onRoom()
  }

  return {
    hasRoom: () => inFlight < inFlightMax && stalled < STALLED_MAX,
    run: (work) => void run(work),
    isEmpty: () => inFlight + stalled === 0,
  }
}

async function settle<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  batch: Waiter<Item, Result>[],
  trace: BatchTrace | undefined,
): Promise<void> {
  try {
    const items = batch.map(({ item }) => item)
    const results = await (trace === undefined
      ? work(items)
      : runInBatchSpan(trace, batch, () => work(items)))
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
  } catch (error) {
    if (batch.length > 1 && error instanceof QueryFailure && error.kind === 'fault') {
      await Promise.all(batch.map((waiter) => settle(work, [waiter], trace)))
      return
    }
    for (const { reject } of batch) reject(error)
  }
}

/** Runs the work once for all waiting requests that have the same key. */
export type Coalesce<Result> = (key: string, work: () => Promise<Result>) => Promise<Result>

interface Group<Result> {
  lane: Lane
  /** Requests that arrived after the current run began. The next run serves them. */
  next: Waiter<() => Promise<Result>, Result>[]
}

/** Like `batched`, for identical requests: one run in flight per key. The next run serves all later requests. */
export function coalesced<Result>(
  waitingMax: number,
  observe: ObserveSize = () => {},
  trace?: BatchTrace,
): Coalesce<Result> {
  const groups = new Map<string, Group<Result>>()
  let waiting = 0

  function open(key: string): Group<Result> {
    const group: Group<Result> = { lane: openLane(1, () => begin(key, group)), next: [] }
    groups.set(key, group)
    return group
  }

  function begin(key: string, { lane, next }: Group<Result>): void {
    if (next.length === 0) {
      if (lane.isEmpty()) groups.delete(key)
      return
    }
    if (!lane.hasRoom()) return
    const waiters = next.splice(0)
    waiting -= waiters.length
    observe(waiters.length, waitSeconds(waiters))
    // The requests are identical, so the work of any of them serves all.
    lane.run(() =>
      settle(
        async ([work]) => {
          const result = await (work as () => Promise<Result>)()
          return waiters.map(() => result)
        },
        waiters,
        trace,
      ),
    )
  }

  return (key, work) => {
    if (waiting >= waitingMax) return Promise.reject(new AppError('overloaded'))
    const group = groups.get(key) ?? open(key)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const span = trace && startWait(trace)
    group.next.push({ item: work, resolve, reject, since: performance.now(), span })
    waiting += 1
    begin(key, group)
    return promise
  }
}
