// Orders: hold an animal, then sell it or let it go.
import type { CallOptions, Send } from './call.ts'
import { randomId } from './call.ts'
import { idText } from './ids.ts'
import type { IdInput, ListOrdersQuery, NewOrder, Order } from './interface.ts'
import { listOf } from './lists.ts'
import type { OnceOptions } from './pets.ts'

export type Orders = ReturnType<typeof ordersOf>

export function ordersOf(send: Send) {
  return {
    /** Newest first. */
    list: (query?: ListOrdersQuery, options?: CallOptions) =>
      listOf(send, 'listOrders', () => '/store/orders', query, options),

    get: async (id: IdInput, options?: CallOptions): Promise<Order> => {
      const path = `/store/orders/${idText(id)}` as const
      return (await send({ operation: 'getOrder', method: 'GET', path, idempotent: true }, options)).value
    },

    /** Holds an animal, once: its idempotency key is the same in all attempts. */
    place: async (order: NewOrder, options: OnceOptions = {}): Promise<Order> => {
      const headers = { 'idempotency-key': options.idempotencyKey ?? randomId() }
      const path = '/store/orders'
      const call = { operation: 'placeOrder', method: 'POST', path, body: order, headers } as const
      return (await send({ ...call, idempotent: true }, options)).value
    },

    /** Sells the animal. The service answers a second attempt like the first. */
    complete: async (id: IdInput, options?: CallOptions): Promise<Order> => {
      const path = `/store/orders/${idText(id)}/complete` as const
      return (await send({ operation: 'completeOrder', method: 'POST', path, idempotent: true }, options))
        .value
    },

    /** Lets the animal go. The service answers a second attempt like the first. */
    cancel: async (id: IdInput, options?: CallOptions): Promise<Order> => {
      const path = `/store/orders/${idText(id)}/cancel` as const
      return (await send({ operation: 'cancelOrder', method: 'POST', path, idempotent: true }, options)).value
    },
  }
}
