// What the page of sales reads.
import type { Category, Order, Page, Petstore } from '@petstore/client'
import { LIST_ORDERS } from '@petstore/client/rules'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { ExplainedError } from '../layout/describe-error.ts'
import { categoryName, readPets } from '../pets/queries.ts'
import { KEYS } from '../session/query-keys.ts'
import { salesCsv } from './csv.ts'
import { type DayRange, timesOf } from './range.ts'

const PAGE_SIZE = 50
/** The max of the service for one request. */
const EXPORT_PAGE_SIZE = LIST_ORDERS.limit.maximum
/** More rows would take minutes, and fill the memory of a phone. */
const EXPORTED_MAX = 20_000

/** Completed orders, newest first. */
export function salesQuery(store: Petstore, range: DayRange) {
  const times = timesOf(range)
  return infiniteQueryOptions({
    queryKey: KEYS.sales(times),
    queryFn: ({ pageParam: cursor, signal }): Promise<Page<Order>> =>
      store.orders
        .list({ status: 'completed', sort: 'closedAt', ...times, limit: PAGE_SIZE, cursor }, { signal })
        .page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** The sales of the range as a CSV file. */
export async function readSalesCsv(
  store: Petstore,
  range: DayRange,
  categories: Category[] | undefined,
): Promise<string> {
  const orders: Order[] = []
  const query = { status: 'completed', sort: 'closedAt', limit: EXPORT_PAGE_SIZE } as const
  for await (const order of store.orders.list({ ...query, ...timesOf(range) })) {
    if (orders.length === EXPORTED_MAX)
      throw new ExplainedError(
        'Too many sales',
        `A file has at most ${EXPORTED_MAX} sales. Choose fewer days.`,
      )
    orders.push(order)
  }
  const pets = await readPets(store, [...new Set(orders.map(({ petId }) => petId))])
  return salesCsv(
    orders.map((order) => {
      const pet = pets[order.petId]
      return { order, pet, category: pet ? categoryName(categories, pet.categoryId) : '' }
    }),
  )
}
