// Orders: hold a pet, then sell or release it.
import { type CallOptions, type OnceOptions, randomId, type Send } from './call.ts'
import { idText } from './ids.ts'
import type { IdInput, ListOrdersQuery, NewOrder, Order } from './interface.ts'
import { listOf } from './lists.ts'

export interface CompleteOptions extends CallOptions {
  /** The price of the sale, if it differs from that of the order, such as `119.00`. */
  price?: string | undefined
  /** The currency of that price. Default: the currency of the store. */
  currency?: string | undefined
}

export type Orders = ReturnType<typeof ordersOf>

export function ordersOf(send: Send) {
  return {
    /**
     * Lists orders, newest first. With `sort: 'expiresAt'`, the open order that expires next comes first. With
     * `sort: 'closedAt'`, the order that was completed last comes first.
     */
    list: (query?: ListOrdersQuery, options?: CallOptions) =>
      listOf(send, 'listOrders', () => '/store/orders', query, options),

    get: async (id: IdInput, options?: CallOptions): Promise<Order> => {
      const path = `/store/orders/${idText(id)}` as const
      return (await send({ operation: 'getOrder', method: 'GET', path, idempotent: true }, options)).value
    },

    /** Places an order, which holds the pet. All attempts use one idempotency key, so at most one order is placed. */
    place: async (order: NewOrder, options: OnceOptions = {}): Promise<Order> => {
      const headers = { 'idempotency-key': options.idempotencyKey ?? randomId() }
      const path = '/store/orders'
      const call = { operation: 'placeOrder', method: 'POST', path, body: order, headers } as const
      return (await send({ ...call, idempotent: true }, options)).value
    },

    /** Sells the pet. Idempotent: if the order is completed already, its price does not change. */
    complete: async (id: IdInput, options: CompleteOptions = {}): Promise<Order> => {
      const path = `/store/orders/${idText(id)}/complete` as const
      const { price, currency } = options
      const body = price === undefined && currency === undefined ? undefined : { price, currency }
      const call = { operation: 'completeOrder', method: 'POST', path, body, idempotent: true } as const
      return (await send(call, options)).value
    },

    /** Releases the pet. Idempotent. */
    cancel: async (id: IdInput, options?: CallOptions): Promise<Order> => {
      const path = `/store/orders/${idText(id)}/cancel` as const
      return (await send({ operation: 'cancelOrder', method: 'POST', path, idempotent: true }, options)).value
    },
  }
}
