// Sells many pets: an order for each, with its price. A pet that cannot be sold does not stop the others.
import {
  type Order,
  type Pet,
  type PetProfile,
  type PetStatus,
  type Petstore,
  PetstoreError,
} from '@petstore/client'
import { describeError } from '../layout/describe-error.ts'
import type { Method } from '../money/words.ts'
import { type Amount, askedPrice, sumAmounts } from '../profile/price.ts'
import type { ShopCurrency } from '../shop/shop.ts'
import { complete, sell, undoSale } from '../selling/actions.ts'
import { type PriceInput, priceInput } from '../selling/price-input.ts'
import { type Failed, type Outcome, undoneText } from './change-many.ts'

/** A pet in the dialog that sells many. */
export interface SaleLine extends PriceInput {
  pet: Pet
  /** The open order of a pet on hold. */
  order: Order | undefined
  /** Why the pet cannot be sold. The sale leaves it out. */
  obstacle: string | undefined
}

export interface SaleFacts {
  /** The open orders by the id of their pet. */
  orders: Partial<Record<string, Order>>
  profiles: Partial<Record<string, PetProfile>>
  /** What the person has typed as prices, by the id of the pet. */
  typed: Partial<Record<string, string>>
  currency: ShopCurrency
  /** The ids of the pets that were deleted since they were selected. */
  deleted: ReadonlySet<string>
}

export function saleLine(pet: Pet, { orders, profiles, typed, currency, deleted }: SaleFacts): SaleLine {
  const order = orders[pet.id]
  const input = priceInput(askedPrice(order, profiles[pet.id]), typed[pet.id], currency)
  const obstacle = deleted.has(pet.id) ? 'It was deleted.' : obstacleOf(pet.status, order)
  return { pet, order, obstacle, ...input }
}

function obstacleOf(status: PetStatus, order: Order | undefined): string | undefined {
  if (status === 'sold') return 'It is sold already.'
  if (status === 'pending' && order === undefined)
    return 'It is on hold without an order. Sell it in the list.'
  return undefined
}

/** The exact sum of the prices in each currency; none if no pet has a price. */
export function totalOf(lines: SaleLine[]): Amount[] {
  const amounts = lines.flatMap(({ amount, currency }) =>
    amount === undefined ? [] : [{ currency, amount }],
  )
  return sumAmounts(amounts)
}

/** What the customer pays in each currency: the prices without the deposits. */
export function dueOf(lines: SaleLine[]): Amount[] {
  const deposits = lines.flatMap(({ order }) =>
    order?.deposit === undefined || order.currency === undefined
      ? []
      : [{ currency: order.currency, amount: `-${order.deposit}` }],
  )
  return sumAmounts([...totalOf(lines), ...deposits])
}

/** What is the same for all sales. */
export interface Buyer {
  note: string
  method: Method | undefined
}

/** One after the other. `onSold` gets the number of pets that were tried. */
export async function sellMany(
  store: Petstore,
  lines: SaleLine[],
  { note, method }: Buyer,
  onSold: (tried: number) => void,
): Promise<Outcome & { total: Amount[] }> {
  const sold: Sold[] = []
  const failed = await forEach(lines, async (line, index) => {
    const { pet, order, amount, currency } = line
    const price = amount === undefined ? {} : { price: amount, currency }
    // A pet on hold is sold to the customer who holds it.
    const sale = { ...price, method, note: order === undefined ? note : (order.note ?? '') }
    const outcome = await (order === undefined ? sell(store, pet, sale) : complete(store, order, sale))
    sold.push({ ...line, sold: outcome.order as Order })
    onSold(index + 1)
  })
  return {
    done: sold.map(({ pet }) => pet),
    failed,
    total: totalOf(sold),
    undo: () => undoSales(store, sold),
  }
}

interface Sold extends SaleLine {
  /** The completed order. */
  sold: Order
}

/** Voids each sale, as with the undo of one. */
async function undoSales(store: Petstore, lines: Sold[]): Promise<string> {
  const failed = await forEach(lines, async ({ pet, order, sold }) => {
    await undoSale(store, pet, sold, order)
  })
  const done = lines.slice(failed.length)
  return undoneText({ done, failed }, 'as before')
}

/** Returns the pets for which `run` failed. */
async function forEach<Line extends SaleLine>(
  lines: Line[],
  run: (line: Line, index: number) => Promise<void>,
): Promise<Failed[]> {
  const failed: Failed[] = []
  for (const [index, line] of lines.entries()) {
    try {
      await run(line, index)
    } catch (error) {
      const { text } = describeError(error as Error)
      // Without a connection, each of the others would wait for its timeout.
      const isOffline = error instanceof PetstoreError && error.status === undefined
      const concerned = isOffline ? lines.slice(index) : [line]
      failed.push(...concerned.map(({ pet }) => ({ pet, reason: text })))
      if (isOffline) break
    }
  }
  return failed
}
