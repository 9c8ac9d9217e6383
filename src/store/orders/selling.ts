// Batches the holds and sales of concurrent requests. A batch waits for no lock, so it leaves some undecided; each of these then
// waits alone. Both ways run the same statement, so the rules of a hold and of a sale are in one place: migrations/0013_selling.sql.
import { AppError, type ErrorCode } from '../../contract/errors.ts'
import { batchTrace } from '../../db/batch-spans.ts'
import { type BatchLimits, batched, type ObserveBatch, WAITING_MAX } from '../../db/batch.ts'
import type { Db } from '../../db/database.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import {
  type Completion,
  completeOrders,
  type OrderToComplete,
  type OrderToPlace,
  type Placement,
  placeOrders,
  type Waiting,
} from './queries.ts'

const BATCHED: BatchLimits = { sizeMax: 100, inFlightMax: 1, waitingMax: WAITING_MAX }

export interface Selling {
  place: (order: OrderToPlace) => Promise<Placement>
  complete: (order: OrderToComplete) => Promise<Completion>
}

export interface SellingOptions {
  /** If false, every request runs its own statement. The benchmark uses this as a baseline. */
  isBatching?: boolean
  /** How many statements run at once without batching. */
  connections?: number
  observe?: ObserveBatch
  tracing?: Tracing | undefined
}

export function openSelling(
  db: Db,
  { isBatching = true, connections = 1, observe = () => {}, tracing }: SellingOptions = {},
): Selling {
  const limits = isBatching ? BATCHED : { ...BATCHED, sizeMax: 1, inFlightMax: connections }
  const inBatches = <Item, Result>(kind: string, work: (items: Item[]) => Promise<Result[]>) =>
    batched(work, limits, (...batch) => observe(kind, ...batch), batchTrace(tracing, kind))
  const place = inBatches('placeOrder', (orders: OrderToPlace[]) => placeOrders(db, orders, 'never'))
  const complete = inBatches('completeOrder', (orders: OrderToComplete[]) =>
    completeOrders(db, orders, 'never'),
  )
  return {
    place: (order) =>
      decide(
        () => place(order),
        async (waiting) => (await placeOrders(db, [order], waiting))[0] as Placement,
        order.key !== undefined,
      ),
    complete: (order) =>
      decide(
        () => complete(order),
        async (waiting) => (await completeOrders(db, [order], waiting))[0] as Completion,
        true,
      ),
  }
}

/**
 * Decides an item in a batch, otherwise alone. A lost connection leaves the outcome of a whole batch unknown. If a second attempt
 * does no harm, the item is then decided alone: it waits for the locks of the first attempt, which PostgreSQL may still hold.
 */
async function decide<Result extends { outcome: string }>(
  inBatch: () => Promise<Result>,
  alone: (waiting: Waiting) => Promise<Result>,
  isRepeatable: boolean,
): Promise<Result> {
  try {
    const result = await inBatch()
    if (result.outcome !== 'undecided') return result
  } catch (error) {
    if (!hasCode(error, 'outcome_unknown') || !isRepeatable) throw error
    return alone('for the key and the pet').catch((second: unknown) => {
      // The second attempt changed nothing, but the first one may have.
      throw hasCode(second, 'unavailable') || hasCode(second, 'overloaded') ? error : second
    })
  }
  return alone('for the pet')
}

function hasCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof AppError && error.code === code
}
