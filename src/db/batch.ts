// Batching: requests that arrive while a query is in flight wait for the next query, which serves all of them.
// A query serves only requests that arrived before it began, so every read sees every acknowledged write.
// If no query is in flight, a request starts one at once, so an idle service adds no delay.
// A query that stalls, for example because its commit waits for a standby, does not hold up the next one.
import { AppError } from '../contract/errors.ts'
import { type BatchTrace, type QueuedSpan, runInBatchSpan, startWait } from './batch-spans.ts'
import { QueryFailure } from './connection/failures.ts'

/** A batch in flight for longer than this has stalled. It then no longer counts towards `inFlightMax`. */
export const STALLED_AFTER_MS = 250
/**
 * While this many batches of one `batched` function, or of one key of `coalesced`, are stalled, no further batch starts.
 * Those already in flight can still stall. slots.ts limits the connections of all functions and keys together.
 */
const STALLED_MAX = 8
/** Max number of requests that wait for the next batch, per kind of batch. */
export const WAITING_MAX = 2_000

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

/** Called when a batch starts, with its size and the seconds that its first request has waited. */
export type OnBatch = (size: number, waitSeconds: number) => void

/** As OnBatch, for batches of several kinds. */
export type ObserveBatch = (kind: string, size: number, waitSeconds: number) => void

/**
 * Turns a function for many items into a function for one item, and batches its concurrent calls.
 * `work` returns the results in the order of the items. If an item makes a batch fail, each item is retried alone, so
 * that only the faulty item fails.
 */
export function batched<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { sizeMax, inFlightMax, waitingMax }: BatchLimits,
  onBatch: OnBatch = () => {},
  trace?: BatchTrace,
): (item: Item) => Promise<Result> {
  const waiting: Waiter<Item, Result>[] = []
  const runner = openRunner(inFlightMax, startBatches)

  function startBatches(): void {
    while (waiting.length > 0 && runner.hasRoom()) {
      const batch = waiting.splice(0, sizeMax)
      onBatch(batch.length, waitSeconds(batch))
      runner.run(() => settle(work, batch, trace))
    }
  }

  return (item) => {
    if (waiting.length >= waitingMax) return Promise.reject(new AppError('overloaded'))
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    waiting.push({ item, resolve, reject, since: performance.now(), span: trace && startWait(trace) })
    startBatches()
    return promise
  }
}

function waitSeconds([first]: readonly { since: number }[]): number {
  return first === undefined ? 0 : (performance.now() - first.since) / 1_000
}

interface Runner {
  /** Call `run` only while this is true. */
  hasRoom: () => boolean
  /** Starts a batch. Its promise must not reject. */
  run: (batch: () => Promise<void>) => void
  isIdle: () => boolean
}

/** Counts the batches in flight, and calls `onRoom` whenever one of them ends or stalls. */
function openRunner(inFlightMax: number, onRoom: () => void): Runner {
  let inFlight = 0
  /** How many of those in flight have stalled. */
  let stalled = 0

  async function run(batch: () => Promise<void>): Promise<void> {
    let hasStalled = false
    inFlight += 1
    const timer = setTimeout(() => {
      hasStalled = true
      stalled += 1
      onRoom()
    }, STALLED_AFTER_MS)
    await batch()
    clearTimeout(timer)
    inFlight -= 1
    if (hasStalled) stalled -= 1
    onRoom()
  }

  return {
    hasRoom: () => inFlight - stalled < inFlightMax && stalled < STALLED_MAX,
    run: (batch) => void run(batch),
    isIdle: () => inFlight === 0,
  }
}

/** Runs the work for a batch, and resolves or rejects each of its requests. Never rejects itself. */
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
    // A single item can cause a fault, and a fault has no effect. Any other error concerns the whole batch.
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
  runner: Runner
  /** Requests that arrived after the last run began. The next run serves them. */
  next: Waiter<() => Promise<Result>, Result>[]
}

/** Like `batched`, for identical requests. `inFlightMax` is the limit of each key, `waitingMax` that of all keys together. */
export function coalesced<Result>(
  { inFlightMax, waitingMax }: Omit<BatchLimits, 'sizeMax'>,
  onBatch: OnBatch = () => {},
  trace?: BatchTrace,
): Coalesce<Result> {
  const groups = new Map<string, Group<Result>>()
  /** Number of waiting requests of all keys. */
  let waiting = 0

  function openGroup(key: string): Group<Result> {
    const group: Group<Result> = {
      runner: openRunner(inFlightMax, () => startNextOrClose(key, group)),
      next: [],
    }
    groups.set(key, group)
    return group
  }

  /** Starts the next run of the group if there is room, or forgets a group without requests that wait or are in flight. */
  function startNextOrClose(key: string, { runner, next }: Group<Result>): void {
    if (next.length === 0) {
      if (runner.isIdle()) groups.delete(key)
      return
    }
    if (!runner.hasRoom()) return
    const batch = next.splice(0)
    waiting -= batch.length
    onBatch(batch.length, waitSeconds(batch))
    runner.run(() => settle(runFirst, batch, trace))
  }

  return (key, work) => {
    if (waiting >= waitingMax) return Promise.reject(new AppError('overloaded'))
    const group = groups.get(key) ?? openGroup(key)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const span = trace && startWait(trace)
    group.next.push({ item: work, resolve, reject, since: performance.now(), span })
    waiting += 1
    startNextOrClose(key, group)
    return promise
  }
}

/** The requests of a batch are identical, so the work of the first one serves all. */
async function runFirst<Result>(works: (() => Promise<Result>)[]): Promise<Result[]> {
  const [first] = works as [() => Promise<Result>]
  const result = await first()
  return works.map(() => result)
}
