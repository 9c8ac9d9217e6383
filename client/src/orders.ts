// Orders: hold a pet, then sell or release it.
import { type CallOptions, type OnceOptions, randomId, type Send } from './call.ts'
import { idText } from './ids.ts'
import type {
  DepositSettlement,
  Entry,
  IdInput,
  ListOrdersQuery,
  NewOrder,
  Order,
  OrderChanges,
  OrderCompletion,
  OrderCorrection,
  OrderRefund,
} from './interface.ts'
import { listOf } from './lists.ts'

/** The price and the note of the sale if they differ from those of the order, how the money is paid, and why the price differs. */
export type CompleteOptions = OrderCompletion & CallOptions

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

    /**
     * Changes the note of an order, and when an open one expires. Not retried if the outcome is unknown: a retry could undo
     * a later change by another client.
     */
    update: async (id: IdInput, changes: OrderChanges, options?: CallOptions): Promise<Order> => {
      const path = `/store/orders/${idText(id)}` as const
      const call = { operation: 'updateOrder', method: 'PATCH', path, body: changes } as const
      return (await send({ ...call, idempotent: false }, options)).value
    },

    /** Sells the pet. Idempotent: if the order is completed already, its price and note do not change. */
    complete: async (id: IdInput, options: CompleteOptions = {}): Promise<Order> => {
      const path = `/store/orders/${idText(id)}/complete` as const
      const { price, currency, note, method, reason } = options
      const completion = { price, currency, note, method, reason }
      const isEmpty = Object.values(completion).every((value) => value === undefined)
      const body = isEmpty ? undefined : completion
      const call = { operation: 'completeOrder', method: 'POST', path, body, idempotent: true } as const
      return (await send(call, options)).value
    },

    /** Releases the pet. Idempotent. */
    cancel: async (id: IdInput, options?: CallOptions): Promise<Order> => {
      const path = `/store/orders/${idText(id)}/cancel` as const
      return (await send({ operation: 'cancelOrder', method: 'POST', path, idempotent: true }, options)).value
    },

    /** Makes the price of a sale the right one. Idempotent: does nothing if it is right already. */
    correct: async (id: IdInput, correction: OrderCorrection, options?: CallOptions): Promise<Order> => {
      const path = `/store/orders/${idText(id)}/correct` as const
      const call = { operation: 'correctOrder', method: 'POST', path, body: correction } as const
      return (await send({ ...call, idempotent: true }, options)).value
    },

    /** Gives money back for a sale, with or without the pet. All attempts use one idempotency key. */
    refund: async (id: IdInput, refund: OrderRefund, options: OnceOptions = {}): Promise<Entry> => {
      const headers = { 'idempotency-key': options.idempotencyKey ?? randomId() }
      const path = `/store/orders/${idText(id)}/refund` as const
      const call = { operation: 'refundOrder', method: 'POST', path, body: refund, headers } as const
      return (await send({ ...call, idempotent: true }, options)).value
    },

    /** Ends a deposit without a sale: gives back a part, all or nothing. All attempts use one idempotency key. */
    settleDeposit: async (
      id: IdInput,
      settlement: DepositSettlement,
      options: OnceOptions = {},
    ): Promise<Entry> => {
      const headers = { 'idempotency-key': options.idempotencyKey ?? randomId() }
      const path = `/store/orders/${idText(id)}/settle-deposit` as const
      const call = { operation: 'settleDeposit', method: 'POST', path, body: settlement, headers } as const
      return (await send({ ...call, idempotent: true }, options)).value
    },
  }
}
