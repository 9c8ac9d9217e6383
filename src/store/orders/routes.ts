// HTTP routes for orders: what each operation accepts, returns and requires.
// Contains no SQL; the rules are in orders.ts.
import type { Caller } from '../../contract/caller.ts'
import { pageLinks, readPage, LINKS } from '../../contract/paging.ts'
import type { Db } from '../../db/database.ts'
import { actorOf } from '../../http/authentication.ts'
import { HASH_HEADERS, IfNoneMatchHeaders, NOT_MODIFIED } from '../../http/etag.ts'
import { response, IdempotencyKeyHeaders, type V1 } from '../../http/operation.ts'
import type { CurrentSettings } from '../settings/current-settings.ts'
import { cancelOrder, changeOrder, completeOrder, getOrder, listOrders, placeOrder } from './orders.ts'
import {
  LIST_LIMIT_DEFAULT,
  ListOrdersQuery,
  NewOrderRef,
  ORDER_SCHEMAS,
  OrderChangesRef,
  OrderCompletionRef,
  OrderParams,
  OrderSchema,
  OrdersSchema,
} from './schema.ts'
import type { Selling } from './selling.ts'

interface OrderServices {
  db: Db
  selling: Selling
  publicUrl: string
  /** Duration of a hold, in minutes, if the request has no `holdMinutes`. */
  holdMinutes: number
  settings: CurrentSettings
}

const EXAMPLE = {
  id: 7,
  petId: 42,
  status: 'open',
  note: 'Ms Okafor, comes at noon',
  price: '129.00',
  currency: 'EUR',
  placedBy: 'web-shop',
  createdAt: '2026-11-15T10:00:00.000Z',
  expiresAt: '2026-11-15T10:30:00.000Z',
}
const CLOSED_AT = '2026-11-15T10:12:00.000Z'
const endedAs = (status: string) => ({ ...EXAMPLE, status, closedAt: CLOSED_AT })

function placeOrderRoute(app: V1, { db, selling, publicUrl, holdMinutes, settings }: OrderServices): void {
  app.route({
    method: 'POST',
    url: '/store/orders',
    config: {
      scope: 'orders:write',
      errors: ['currency_mismatch', 'pet_not_found', 'pet_not_available'],
      retry: { rule: 'with Idempotency-Key', effect: 'A retry returns the response to the first attempt.' },
    },
    schema: {
      operationId: 'placeOrder',
      summary: 'Place an order',
      description:
        'Holds the pet until `expiresAt`: its status changes from `available` to `pending`. If several requests order the same pet at once, exactly one succeeds. Without `price`, the order gets the price in the profile of the pet, if it has one.',
      tags: ['store'],
      headers: IdempotencyKeyHeaders,
      body: NewOrderRef,
      response: {
        201: response(OrderSchema, {
          description: 'The new order.',
          example: EXAMPLE,
          headers: {
            Location: 'URL of the order.',
            'Idempotency-Replayed':
              '`true` if this is the stored response to an earlier request with the same key.',
          },
        }),
      },
    },
    handler: async (request, reply) => {
      const { order, replayed } = await placeOrder({ db, selling }, request.body, {
        caller: request.caller as Caller,
        requestId: request.id,
        idempotencyKey: request.headers['idempotency-key'],
        holdMinutesDefault: holdMinutes,
        currency: await settings.currency(),
      })
      if (replayed) reply.header('idempotency-replayed', 'true')
      reply.code(201).header('location', `${publicUrl}/v1/store/orders/${order.id}`)
      return order
    },
  })
}

function updateOrderRoute(app: V1, { db }: OrderServices): void {
  app.route({
    method: 'PATCH',
    url: '/store/orders/:orderId',
    config: {
      scope: 'orders:write',
      errors: ['order_closed'],
      retry: { rule: 'never', effect: 'A retry can undo a later change by another client.' },
    },
    schema: {
      operationId: 'updateOrder',
      summary: 'Change an order',
      description:
        'Changes the given fields: the note of any order, also of one that is completed, cancelled or expired, and the time when an open order expires.',
      tags: ['store'],
      params: OrderParams,
      body: OrderChangesRef,
      response: {
        200: response(OrderSchema, { description: 'The order after the change.', example: EXAMPLE }),
      },
    },
    handler: (request) => changeOrder(db, request.params.orderId, request.body, actorOf(request)),
  })
}

function completeOrderRoute(app: V1, { db, selling, settings }: OrderServices): void {
  app.route({
    method: 'POST',
    url: '/store/orders/:orderId/complete',
    config: {
      scope: 'orders:write',
      errors: ['currency_mismatch', 'order_closed'],
      retry: {
        rule: 'safe',
        effect: 'A retry returns 200 with the same order. It never changes the price or the note.',
      },
    },
    schema: {
      operationId: 'completeOrder',
      summary: 'Complete an order',
      description:
        'Sells the pet: its status changes from `pending` to `sold`. The body is optional. A `note` replaces that of the order, `null` clears it. Without `price`, the price of the order stays; if it has none, the order gets the price in the profile of the pet. Idempotent: completing a completed order returns it unchanged, also with another price or note.',
      tags: ['store'],
      params: OrderParams,
      body: OrderCompletionRef,
      response: {
        200: response(OrderSchema, { description: 'The completed order.', example: endedAs('completed') }),
      },
    },
    handler: async (request) =>
      completeOrder({ db, selling }, request.params.orderId, request.body, {
        actor: actorOf(request),
        currency: await settings.currency(),
      }),
  })
}

function cancelOrderRoute(app: V1, { db }: OrderServices): void {
  app.route({
    method: 'POST',
    url: '/store/orders/:orderId/cancel',
    config: {
      scope: 'orders:write',
      errors: ['order_closed'],
      retry: { rule: 'safe', effect: 'A retry returns 200 with the same order.' },
    },
    schema: {
      operationId: 'cancelOrder',
      summary: 'Cancel an order',
      description:
        'Releases the pet: its status changes from `pending` to `available`. Idempotent: cancelling a cancelled order returns it unchanged.',
      tags: ['store'],
      params: OrderParams,
      response: {
        200: response(OrderSchema, { description: 'The cancelled order.', example: endedAs('cancelled') }),
      },
    },
    handler: (request) => cancelOrder(db, request.params.orderId, actorOf(request)),
  })
}

function listOrdersRoute(app: V1, { db, publicUrl }: OrderServices): void {
  app.route({
    method: 'GET',
    url: '/store/orders',
    config: { scope: 'orders:read', showsHolds: true },
    schema: {
      operationId: 'listOrders',
      summary: 'List orders',
      description:
        'Returns orders, newest first, or sorted by `sort`. To read all pages, follow the link `rel="next"` until it is absent.',
      tags: ['store'],
      querystring: ListOrdersQuery,
      response: {
        200: response(OrdersSchema, {
          description: 'A page of orders.',
          example: [EXAMPLE],
          headers: { Link: LINKS },
        }),
      },
    },
    handler: async (request, reply) => {
      const { limit, status, petId, sort, closedFrom, closedTo } = request.query
      const filters = { status, petId, sort, closedFrom, closedTo }
      const cursorFilters = { list: 'orders', ...filters }
      const page = readPage(request.query, cursorFilters, LIST_LIMIT_DEFAULT)
      const { items, next } = await listOrders(db, filters, page)
      reply.headers(pageLinks(`${publicUrl}/v1/store/orders`, next, cursorFilters, { ...filters, limit }))
      return items
    },
  })
}

function getOrderRoute(app: V1, { db }: OrderServices): void {
  app.route({
    method: 'GET',
    url: '/store/orders/:orderId',
    config: { scope: 'orders:read', showsHolds: true },
    schema: {
      operationId: 'getOrder',
      summary: 'Get an order',
      tags: ['store'],
      params: OrderParams,
      headers: IfNoneMatchHeaders,
      response: {
        ...NOT_MODIFIED,
        200: response(OrderSchema, { description: 'The order.', example: EXAMPLE, headers: HASH_HEADERS }),
      },
    },
    handler: (request) => getOrder(db, request.params.orderId),
  })
}

export const ORDERS = {
  schemas: ORDER_SCHEMAS,
  operations: [
    placeOrderRoute,
    listOrdersRoute,
    getOrderRoute,
    updateOrderRoute,
    completeOrderRoute,
    cancelOrderRoute,
  ],
}
