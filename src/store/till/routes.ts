// HTTP routes of the till: what each operation accepts, returns and requires.
// Contains no SQL; the rules are in till.ts and days.ts.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LINKS, pageLinks, readPage } from '../../contract/paging.ts'
import type { Db } from '../../db/database.ts'
import { actorOf, requireScope } from '../../http/authentication.ts'
import { RequiredIdempotencyKeyHeaders, response, type V1 } from '../../http/operation.ts'
import { OrderParams, OrderSchema } from '../orders/schema.ts'
import type { CurrentSettings } from '../settings/current-settings.ts'
import { EntrySchema } from '../ledger/schema.ts'
import { closeDay, getTotals, listClosings, listEntries } from './days.ts'
import {
  CashMovementRef,
  ClosingSchema,
  ClosingsSchema,
  DepositSettlementRef,
  EntriesSchema,
  EntryParams,
  GetTotalsQuery,
  LIST_LIMIT_DEFAULT,
  ListClosingsQuery,
  ListEntriesQuery,
  NewClosingRef,
  OrderCorrectionRef,
  OrderRefundRef,
  TILL_SCHEMAS,
  TotalsSchema,
} from './schema.ts'
import {
  correctOrder,
  type OnceEntry,
  recordCash,
  refundOrder,
  settleDeposit,
  VOIDED_WITHIN_SECONDS,
  voidEntry,
} from './till.ts'

interface TillServices {
  db: Db
  publicUrl: string
  settings: CurrentSettings
}

const ENTRY = {
  id: 981,
  orderId: 432,
  petId: 497,
  kind: 'refund',
  day: '2026-11-19',
  at: '2026-11-19T10:00:00.000Z',
  paid: '-100.00',
  sales: '-100.00',
  pets: -1,
  currency: 'EUR',
  method: 'cash',
  categoryId: 1,
  seller: 'Ana',
  actor: 'Ben',
  reason: 'changed_mind',
}
const SALE = {
  ...ENTRY,
  id: 980,
  kind: 'sale',
  at: '2026-11-19T09:12:00.000Z',
  paid: '129.00',
  sales: '129.00',
  pets: 1,
  actor: 'Ana',
  reason: undefined,
}
const ORDER = {
  id: 432,
  petId: 497,
  status: 'completed',
  price: '129.00',
  currency: 'EUR',
  netPrice: '119.00',
  placedBy: 'Ana',
  createdAt: '2026-11-19T09:00:00.000Z',
  expiresAt: '2026-11-19T09:30:00.000Z',
  closedAt: '2026-11-19T09:12:00.000Z',
}
const CLOSING = {
  day: '2026-11-19',
  at: '2026-11-19T17:00:00.000Z',
  closedBy: 'Ben',
  currency: 'EUR',
  expected: '215.00',
  counted: '213.00',
  difference: '-2.00',
  kept: '100.00',
}

const ONCE = {
  rule: 'with Idempotency-Key',
  effect: 'A retry returns the response to the first attempt. The key is required.',
} as const
const REPLAYED = {
  'Idempotency-Replayed': '`true` if this is the stored response to an earlier request with the same key.',
}

function correctOrderRoute(app: V1, { db }: TillServices): void {
  app.route({
    method: 'POST',
    url: '/store/orders/:orderId/correct',
    config: {
      scope: 'till:write',
      errors: ['currency_mismatch', 'order_not_sold'],
      retry: {
        rule: 'safe',
        effect:
          'A retry finds the price right, and changes nothing unless another client has corrected it since.',
      },
    },
    schema: {
      operationId: 'correctOrder',
      summary: 'Correct the price of a sale',
      description:
        'Makes the price of a sale the right one. The difference is an entry of today, so a closed day stays as it is. `price` of the order stays what was agreed; `netPrice` is the right one. Correcting to the present price changes nothing.',
      tags: ['till'],
      params: OrderParams,
      body: OrderCorrectionRef,
      response: {
        200: response(OrderSchema, { description: 'The order, with the right `netPrice`.', example: ORDER }),
      },
    },
    handler: (request) => correctOrder(db, request.params.orderId, request.body, actorOf(request)),
  })
}

function refundOrderRoute(app: V1, { db }: TillServices): void {
  app.route({
    method: 'POST',
    url: '/store/orders/:orderId/refund',
    config: {
      scope: 'till:write',
      errors: ['currency_mismatch', 'order_not_sold', 'amount_too_high'],
      retry: ONCE,
    },
    schema: {
      operationId: 'refundOrder',
      summary: 'Refund a sale',
      description:
        'Gives back all or a part of what was paid. With `takeBack`, the pet comes back and is available. The refund counts for today, and for the seller and the category of the sale.',
      tags: ['till'],
      params: OrderParams,
      headers: RequiredIdempotencyKeyHeaders,
      body: OrderRefundRef,
      response: {
        201: response(EntrySchema, {
          description: 'The entry of the refund.',
          example: ENTRY,
          headers: REPLAYED,
        }),
      },
    },
    handler: async (request, reply) =>
      created(reply, await refundOrder(db, request.params.orderId, request.body, onceOf(request))),
  })
}

function settleDepositRoute(app: V1, { db }: TillServices): void {
  app.route({
    method: 'POST',
    url: '/store/orders/:orderId/settle-deposit',
    config: { scope: 'orders:write', errors: ['currency_mismatch', 'amount_too_high'], retry: ONCE },
    schema: {
      operationId: 'settleDeposit',
      summary: 'Settle a deposit',
      description:
        'Ends a deposit without a sale: the customer gets back `refund`, and the shop keeps the rest. A sale settles the deposit by itself. No deposit is ever kept automatically.',
      tags: ['till'],
      params: OrderParams,
      headers: RequiredIdempotencyKeyHeaders,
      body: DepositSettlementRef,
      response: {
        201: response(EntrySchema, {
          description: 'The entry: a `refund`, or a `forfeit` if the shop keeps everything.',
          example: { ...ENTRY, paid: '-20.00', sales: '0.00', pets: 0, reason: undefined },
          headers: REPLAYED,
        }),
      },
    },
    handler: async (request, reply) =>
      created(reply, await settleDeposit(db, request.params.orderId, request.body, onceOf(request))),
  })
}

function voidEntryRoute(app: V1, { db }: TillServices): void {
  app.route({
    method: 'POST',
    url: '/store/entries/:entryId/void',
    config: {
      scope: 'orders:write',
      errors: ['entry_final', 'pet_not_available'],
      retry: { rule: 'safe', effect: 'A retry returns 200 with the same void.' },
    },
    schema: {
      operationId: 'voidEntry',
      summary: 'Void an entry',
      description: `Takes back the last entry of an order, as if it had not been: within ${VOIDED_WITHIN_SECONDS / 60} minutes, and before its day is closed. The void counts for the day of the entry. A voided sale makes the pet available, a voided return sold. Entries that another person or program wrote require the scope \`till:write\`.`,
      tags: ['till'],
      params: EntryParams,
      response: {
        200: response(EntrySchema, {
          description: 'The void.',
          example: {
            ...SALE,
            id: 982,
            kind: 'void',
            paid: '-129.00',
            sales: '-129.00',
            pets: -1,
            voidedEntryId: 980,
          },
        }),
      },
    },
    handler: (request) => {
      const options = { actor: actorOf(request), requireTill: () => requireScope(request, 'till:write') }
      return voidEntry(db, request.params.entryId, options)
    },
  })
}

function recordCashRoute(app: V1, { db, settings }: TillServices): void {
  app.route({
    method: 'POST',
    url: '/store/cash',
    config: { scope: 'till:write', errors: ['currency_mismatch'], retry: ONCE },
    schema: {
      operationId: 'recordCash',
      summary: 'Put cash in, or take it out',
      description:
        'Records cash that is put into the drawer or taken out without a sale. It counts for the expected cash only, and cannot be voided: record the opposite.',
      tags: ['till'],
      headers: RequiredIdempotencyKeyHeaders,
      body: CashMovementRef,
      response: {
        201: response(EntrySchema, {
          description: 'The entry.',
          example: {
            id: 983,
            kind: 'cash',
            day: ENTRY.day,
            at: ENTRY.at,
            paid: '50.00',
            sales: '0.00',
            pets: 0,
            currency: 'EUR',
            method: 'cash',
            actor: 'Ben',
            note: 'change from the bank',
          },
          headers: REPLAYED,
        }),
      },
    },
    handler: async (request, reply) => {
      const options = { ...onceOf(request), ownCurrency: await settings.currency() }
      return created(reply, await recordCash(db, request.body, options))
    },
  })
}

function listEntriesRoute(app: V1, { db, publicUrl }: TillServices): void {
  app.route({
    method: 'GET',
    url: '/store/entries',
    config: { scope: 'orders:read', showsHolds: false },
    schema: {
      operationId: 'listEntries',
      summary: 'List entries',
      description:
        'Returns entries of the ledger by day, the newest first. To read all pages, follow the link `rel="next"` until it is absent.',
      tags: ['till'],
      querystring: ListEntriesQuery,
      response: {
        200: response(EntriesSchema, {
          description: 'A page of entries.',
          example: [ENTRY, SALE],
          headers: { Link: LINKS },
        }),
      },
    },
    handler: async (request, reply) => {
      const { limit, orderId, petId, from, to } = request.query
      const filters = { orderId, petId, from, to }
      const cursorFilters = { list: 'entries', ...filters }
      const page = readPage(request.query, cursorFilters, LIST_LIMIT_DEFAULT)
      const { items, next } = await listEntries(db, filters, page)
      reply.headers(pageLinks(`${publicUrl}/v1/store/entries`, next, cursorFilters, { ...filters, limit }))
      return items
    },
  })
}

function getTotalsRoute(app: V1, { db }: TillServices): void {
  app.route({
    method: 'GET',
    url: '/store/totals',
    config: { scope: 'orders:read', showsHolds: false },
    schema: {
      operationId: 'getTotals',
      summary: 'Get totals',
      description:
        'Returns sums of the entries of some days of the shop: pets sold, net sales and money paid. All of them are exact and come from the ledger alone. Also returns the deposits that are held, and the expected cash.',
      tags: ['till'],
      querystring: GetTotalsQuery,
      response: {
        200: response(TotalsSchema, {
          description: 'The totals.',
          example: {
            timeZone: 'Europe/Berlin',
            today: '2026-11-19',
            from: '2026-11-19',
            to: '2026-11-19',
            closedThrough: '2026-11-18',
            totals: [{ currency: 'EUR', pets: 2, sales: '1600.00', paid: '1600.00' }],
            groups: [
              { method: 'cash', currency: 'EUR', pets: 1, sales: '450.00', paid: '450.00' },
              { method: 'card', currency: 'EUR', pets: 1, sales: '1150.00', paid: '1150.00' },
            ],
            deposits: [{ currency: 'EUR', amount: '20.00' }],
            cash: [],
            drawer: { currency: 'EUR', expected: '550.00' },
          },
        }),
      },
    },
    handler: (request) => getTotals(db, request.query),
  })
}

function closeDayRoute(app: V1, { db }: TillServices): void {
  app.route({
    method: 'POST',
    url: '/store/day-closings',
    config: {
      scope: 'till:write',
      errors: ['currency_mismatch', 'day_closed'],
      retry: { rule: 'safe', effect: 'A retry with the same values returns 200 with the same closing.' },
    },
    schema: {
      operationId: 'closeDay',
      summary: 'Close a day',
      description:
        'Closes a day of the shop, and the days before, with the counted cash. Later entries count for the next day, and no entry of a closed day can be voided.',
      tags: ['till'],
      body: NewClosingRef,
      response: {
        200: response(ClosingSchema, {
          description: 'The closing, made by an earlier request with the same values.',
          example: CLOSING,
        }),
        201: response(ClosingSchema, { description: 'The new closing.', example: CLOSING }),
      },
    },
    handler: async (request, reply) => {
      const { closing, isNew } = await closeDay(db, request.body, actorOf(request))
      reply.code(isNew ? 201 : 200)
      return closing
    },
  })
}

function listClosingsRoute(app: V1, { db, publicUrl }: TillServices): void {
  app.route({
    method: 'GET',
    url: '/store/day-closings',
    config: { scope: 'orders:read', showsHolds: false },
    schema: {
      operationId: 'listClosings',
      summary: 'List closings',
      description:
        'Returns closed days, the newest first. To read all pages, follow the link `rel="next"` until it is absent.',
      tags: ['till'],
      querystring: ListClosingsQuery,
      response: {
        200: response(ClosingsSchema, {
          description: 'A page of closings.',
          example: [CLOSING],
          headers: { Link: LINKS },
        }),
      },
    },
    handler: async (request, reply) => {
      const { limit } = request.query
      const filters = { list: 'day-closings' }
      const { items, next } = await listClosings(db, readPage(request.query, filters, LIST_LIMIT_DEFAULT))
      reply.headers(pageLinks(`${publicUrl}/v1/store/day-closings`, next, filters, { limit }))
      return items
    },
  })
}

function created(reply: FastifyReply, { entry, replayed }: OnceEntry): OnceEntry['entry'] {
  if (replayed) reply.header('idempotency-replayed', 'true')
  reply.code(201)
  return entry
}

function onceOf(request: FastifyRequest & { headers: { 'idempotency-key': string } }) {
  return { actor: actorOf(request), idempotencyKey: request.headers['idempotency-key'] }
}

export const TILL = {
  schemas: TILL_SCHEMAS,
  operations: [
    correctOrderRoute,
    refundOrderRoute,
    settleDepositRoute,
    listEntriesRoute,
    voidEntryRoute,
    getTotalsRoute,
    recordCashRoute,
    closeDayRoute,
    listClosingsRoute,
  ],
}
