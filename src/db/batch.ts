// Answering together: requests that arrive while the database is busy are answered by the next query as one.
// A request is only ever answered by work that began after it arrived, so everyone reads every acknowledged
// write; and where nothing is under way it begins at once, so an idle service adds no wait.
import { AppError } from '../errors.ts'
import { QueryFailure } from './failures.ts'

export interface BatchLimits {
  /** The most that one piece of work may answer. */
  sizeMax: number
  /** How many pieces of work may be under way at once. */
  underWayMax: number
  /** How many requests may wait; the next one is told that the service is busy. */
  waitingMax: number
}

interface Waiter<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/**
 * Makes a function that answers one item out of one that answers many, in the same sequence. A fault that one
 * item causes is that item's alone: the others are tried again without it.
 */
export function together<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { sizeMax, underWayMax, waitingMax }: BatchLimits,
  observe: (size: number) => void = () => {},
): (item: Item) => Promise<Result> {
  let waiting: Waiter<Item, Result>[] = []
  let underWay = 0

  function begin(): void {
    while (underWay < underWayMax && waiting.length > 0) {
      const batch = waiting.length <= sizeMax ? waiting : waiting.slice(0, sizeMax)
      waiting = waiting.length <= sizeMax ? [] : waiting.slice(sizeMax)
      underWay += 1
      void answer(batch)
    }
  }

  async function answer(batch: Waiter<Item, Result>[]): Promise<void> {
    observe(batch.length)
    await settle(work, batch)
    underWay -= 1
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

/** Shares one piece of work among all who ask the same at the same time. */
export type Share<Result> = (question: string, work: () => Promise<Result>) => Promise<Result>

interface Asking<Result> {
  underWay: boolean
  /** Whoever asked after the work under way began: the next work is theirs. */
  next: Waiter<() => Promise<Result>, Result>[]
}

/** The same rule for questions: one work at a time for each, and who comes too late for it gets the next. */
export function shared<Result>(
  waitingMax: number,
  observe: (size: number) => void = () => {},
): Share<Result> {
  const asked = new Map<string, Asking<Result>>()
  let waiting = 0

  async function answer(question: string, asking: Asking<Result>): Promise<void> {
    asking.underWay = true
    while (asking.next.length > 0) {
      const waiters = asking.next
      asking.next = []
      waiting -= waiters.length
      observe(waiters.length)
      // All of them ask the same, so the work of any one will do.
      await settle(async ([work]) => {
        const result = await (work as () => Promise<Result>)()
        return waiters.map(() => result)
      }, waiters)
    }
    asked.delete(question)
  }

  return (question, work) => {
    if (waiting >= waitingMax) return Promise.reject(new AppError('overloaded'))
    const asking = asked.get(question) ?? { underWay: false, next: [] }
    asked.set(question, asking)
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    asking.next.push({ item: work, resolve, reject })
    waiting += 1
    if (!asking.underWay) void answer(question, asking)
    return promise
  }
}
