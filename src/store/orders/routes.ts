// HTTP routes for orders: what each operation accepts, returns and requires.
// Contains no SQL; the rules are in orders.ts.
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../contract/caller.ts'
import { nextPageHeaders, readPage } from '../../contract/paging.ts'
import type { Db, Readers } from '../../db/database.ts'
import { response, IdempotencyKeyHeaders, type V1 } from '../../http/operation.ts'
import { endOrder, getOrder, listOrders, placeOrder } from './orders.ts'
import {
  LIST_LIMIT_DEFAULT,
  ListOrdersQuery,
  NewOrderRef,
  OrderParams,
  OrderSchema,
  OrdersSchema,
} from './schema.ts'

export interface OrderServices {
  db: Db
  readers: Readers
  publicUrl: string
  /** Duration of a hold, in minutes, if the request has no `holdMinutes`. */
  holdMinutes: number
}

const EXAMPLE = {
  id: 7,
  petId: 42,
  status: 'open',
  note: 'Ms Okafor, comes at noon',
  placedBy: 'web-shop',
  createdAt: '2026-11-15T10:00:00.000Z',
  expiresAt: '2026-11-15T10:30:00.000Z',
}
const CLOSED_AT = '2026-11-15T10:12:00.000Z'

export function placeOrderRoute(app: V1, { db, publicUrl, holdMinutes }: OrderServices): void {
  app.route({
    method: 'POST',
    url: '/store/orders',
    config: { scope: 'orders:write', errors: ['pet_not_found', 'pet_not_available'] },
    schema: {
      operationId: 'placeOrder',
      summary: 'Place an order',
      description:
        'Holds the pet until `expiresAt`: its status changes from `available` to `pending`. If several requests order the same pet at once, exactly one succeeds.',
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
      const { order, replayed } = await placeOrder(db, request.body, {
        callerId: (request.caller as Caller).id,
        requestId: request.id,
        idempotencyKey: request.headers['idempotency-key'],
        holdMinutesDefault: holdMinutes,
      })
      if (replayed) reply.header('idempotency-replayed', 'true')
      reply.code(201).header('location', `${publicUrl}/v1/store/orders/${order.id}`)
      return order
    },
  })
}

export function completeOrderRoute(app: V1, services: OrderServices): void {
  endingRoute(app, services, {
    verb: 'complete',
    status: 'completed',
    summary: 'Complete an order',
    description:
      'Sells the pet: its status changes from `pending` to `sold`. Idempotent: completing a completed order returns it unchanged.',
  })
}

export function cancelOrderRoute(app: V1, services: OrderServices): void {
  endingRoute(app, services, {
    verb: 'cancel',
    status: 'cancelled',
    summary: 'Cancel an order',
    description:
      'Releases the pet: its status changes from `pending` to `available`. Idempotent: cancelling a cancelled order returns it unchanged.',
  })
}

interface Ending {
  verb: 'complete' | 'cancel'
  status: 'completed' | 'cancelled'
  summary: string
  description: string
}

function endingRoute(app: V1, { db }: OrderServices, { verb, status, summary, description }: Ending): void {
  app.route({
    method: 'POST',
    url: `/store/orders/:orderId/${verb}`,
    config: { scope: 'orders:write', errors: ['order_closed'] },
    schema: {
      operationId: `${verb}Order`,
      summary,
      description,
      tags: ['store'],
      params: OrderParams,
      response: {
        200: response(OrderSchema, {
          description: `The ${status} order.`,
          example: { ...EXAMPLE, status, closedAt: CLOSED_AT },
        }),
      },
    },
    handler: (request) => endOrder(db, request.params.orderId, status, actorOf(request)),
  })
}

export function listOrdersRoute(app: V1, { readers, publicUrl }: OrderServices): void {
  app.route({
    method: 'GET',
    url: '/store/orders',
    config: { scope: 'orders:read', showsHolds: true },
    schema: {
      operationId: 'listOrders',
      summary: 'List orders',
      description:
        'Returns orders, newest first, or sorted by `sort`. To read all pages, follow the `Link` header until it is absent.',
      tags: ['store'],
      querystring: ListOrdersQuery,
      response: {
        200: response(OrdersSchema, {
          description: 'A page of orders.',
          example: [EXAMPLE],
          headers: { Link: 'URL of the next page: `<…>; rel="next"`. Absent on the last page.' },
        }),
      },
    },
    handler: async (request, reply) => {
      const { limit, status, petId, sort } = request.query
      const filters = { status, petId, sort }
      const boundTo = { list: 'orders', ...filters }
      const page = readPage(request.query, boundTo, LIST_LIMIT_DEFAULT)
      const { items, next } = await listOrders(readers.rows, filters, page)
      reply.headers(nextPageHeaders(`${publicUrl}/v1/store/orders`, next, boundTo, { ...filters, limit }))
      return items
    },
  })
}

export function getOrderRoute(app: V1, { readers }: OrderServices): void {
  app.route({
    method: 'GET',
    url: '/store/orders/:orderId',
    config: { scope: 'orders:read', showsHolds: true },
    schema: {
      operationId: 'getOrder',
      summary: 'Get an order',
      tags: ['store'],
      params: OrderParams,
      response: {
        200: response(OrderSchema, { description: 'The order.', example: EXAMPLE }),
      },
    },
    handler: (request) => getOrder(readers.rows, request.params.orderId),
  })
}

function actorOf(request: FastifyRequest): { apiKeyId: bigint; requestId: string } {
  return { apiKeyId: (request.caller as Caller).id, requestId: request.id }
}
