// Sellers that sell pets and change their minds in every way, and what the service told them about the money.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Connection, type Exchange, openConnection } from './load.ts'

/** In cents. */
export interface Sums {
  paid: number
  sales: number
  pets: number
}

export interface Sellers {
  told: Readonly<Sums>
  byOrder: ReadonlyMap<number, Sums>
  counts: { requests: number; retries: number; entries: number; refused: number }
  post: (seller: number, path: string, body?: object) => Promise<Exchange>
  /** Sells a pet, and then changes its mind in a way that the turn chooses. */
  sellOne: (seller: number, turn: number) => Promise<void>
  close: () => void
}

interface Entry {
  id: number
  paid: string
  sales: string
  pets: number
}

const AFTER_FAULT_MS = 50
/** Only ends a test that hangs. */
const RETRIES_MAX = 5_000

/** A process that was killed can leave a statement in PostgreSQL, which still has the lock of the key. */
function isRetried({ status, body }: Exchange): boolean {
  return status === 503 || (body as { code?: string } | undefined)?.code === 'idempotency_key_in_use'
}

export const centsOf = (amount: string) => Number(amount.replace('.', ''))
export const amountOf = (cents: number) => (cents / 100).toFixed(2)

/** Every request is safe to retry: it has a key, or its target makes it idempotent. So its outcome is known in the end. */
export function openSellers(originOf: (seller: number) => string, apiKey: string): Sellers {
  const told: Sums = { paid: 0, sales: 0, pets: 0 }
  const byOrder = new Map<number, Sums>()
  const counts = { requests: 0, retries: 0, entries: 0, refused: 0 }
  const connections = new Map<number, { origin: string; connection: Connection }>()

  function connectionOf(seller: number): Connection {
    const origin = originOf(seller)
    const known = connections.get(seller)
    if (known?.origin === origin) return known.connection
    known?.connection.close()
    const connection = openConnection({ origin, apiKey })
    connections.set(seller, { origin, connection })
    return connection
  }

  async function send(seller: number, method: string, path: string, body?: object): Promise<Exchange> {
    counts.requests += 1
    const headers = { 'idempotency-key': `seller-${counts.requests}` }
    for (let retries = 0; retries < RETRIES_MAX; retries += 1) {
      const exchange = await connectionOf(seller)
        .send(method, `/v1/${path}`, body, headers)
        .catch(() => undefined)
      if (exchange !== undefined && !isRetried(exchange)) return exchange
      counts.retries += 1
      await sleep(AFTER_FAULT_MS)
    }
    throw new Error(`no response to ${method} ${path}`)
  }
  const post = (seller: number, path: string, body?: object) => send(seller, 'POST', path, body)

  function add(orderId: number, { paid, sales, pets }: Omit<Entry, 'id'>): void {
    const ofOrder = byOrder.get(orderId) ?? { paid: 0, sales: 0, pets: 0 }
    byOrder.set(orderId, ofOrder)
    for (const sums of [told, ofOrder]) {
      sums.paid += centsOf(paid)
      sums.sales += centsOf(sales)
      sums.pets += pets
    }
    counts.entries += 1
  }

  /** A closing may have made the entry final. */
  async function changeMind(seller: number, orderId: number, path: string, body?: object): Promise<void> {
    const response = await post(seller, path, body)
    if (response.status === 409) counts.refused += 1
    else {
      expect(response.status, JSON.stringify(response.body)).toBeLessThan(300)
      add(orderId, response.body as Entry)
    }
  }

  async function sellOne(seller: number, turn: number): Promise<void> {
    const pet = await post(seller, 'pets', { name: 'Rex', categoryId: 1 + (turn % 3) })
    const { id: petId } = pet.body as { id: number }
    const deposit = turn % 4 === 0 ? '20.00' : undefined
    const held = await post(seller, 'store/orders', { petId, ...(deposit && { deposit, method: 'cash' }) })
    const { id } = held.body as { id: number }
    if (deposit !== undefined) add(id, { paid: deposit, sales: '0.00', pets: 0 })
    const price = amountOf(10_000 + turn * 7)
    const sold = await post(seller, `store/orders/${id}/complete`, { price, method: 'cash' })
    expect([pet.status, held.status, sold.status], JSON.stringify(held.body)).toEqual([201, 201, 200])
    add(id, { paid: amountOf(centsOf(price) - centsOf(deposit ?? '0.00')), sales: price, pets: 1 })
    if (turn % 5 === 1) {
      const right = amountOf(centsOf(price) - 1_000)
      const { status, body } = await post(seller, `store/orders/${id}/correct`, { price: right })
      expect([status, (body as { netPrice: string }).netPrice]).toEqual([200, right])
      add(id, { paid: '-10.00', sales: '-10.00', pets: 0 })
    }
    const refund = `store/orders/${id}/refund`
    if (turn % 5 === 2) await changeMind(seller, id, refund, { amount: '29.50', takeBack: false })
    if (turn % 5 === 3) await changeMind(seller, id, refund, { amount: price, takeBack: true })
    if (turn % 5 === 4) {
      const { body } = await send(seller, 'GET', `store/entries?orderId=${id}`)
      await changeMind(seller, id, `store/entries/${(body as Entry[])[0]?.id}/void`)
    }
  }

  function close(): void {
    for (const { connection } of connections.values()) connection.close()
  }

  return { told, byOrder, counts, post, sellOne, close }
}
