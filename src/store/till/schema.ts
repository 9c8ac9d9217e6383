// JSON schemas of the till: what changes the ledger, totals and the closings of days.
import { type Static, Type } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'
import { CursorParameter, LimitParameter } from '../../contract/paging-parameters.ts'
import { AmountSchema, CurrencySchema, OWN_CURRENCY, PriceSchema } from '../../contract/price.ts'
import {
  day,
  ENTRY_KINDS,
  EntrySchema,
  type EntryKind,
  LaterPaymentField,
  method,
  name,
  paid,
  pets,
  reason,
  sales,
  signed,
  time,
} from '../ledger/schema.ts'

const GROUPINGS = ['day', 'seller', 'category', 'method', 'kind'] as const
export type Grouping = (typeof GROUPINGS)[number]

const NOTE_LENGTH_MAX = 500
export const LIST_LIMIT_DEFAULT = 20
/** A leap year. */
export const TOTAL_DAYS_MAX = 366

export const EntriesSchema = Type.Array(refTo(EntrySchema), {
  $id: 'Entries',
  description: 'Entries by day, the newest first.',
})

const OrderCorrectionSchema = Type.Object(
  { price: PriceSchema, currency: OWN_CURRENCY, method: LaterPaymentField, reason },
  {
    $id: 'OrderCorrection',
    additionalProperties: false,
    description: 'The right price of a sale.',
    examples: [{ price: '119.00', method: 'cash', reason: 'wrong_price' }],
  },
)
export type OrderCorrection = Static<typeof OrderCorrectionSchema>
export const OrderCorrectionRef = refTo(OrderCorrectionSchema)

const OrderRefundSchema = Type.Object(
  {
    amount: AmountSchema(
      'What the customer gets back: at most what was paid. `0.00` only if the pet comes back.',
    ),
    currency: OWN_CURRENCY,
    takeBack: Type.Boolean({ description: 'Whether the pet comes back: it then is available.' }),
    method: LaterPaymentField,
    reason,
  },
  {
    $id: 'OrderRefund',
    additionalProperties: false,
    description: 'Money back, with or without the pet.',
    examples: [{ amount: '100.00', takeBack: true, method: 'cash', reason: 'changed_mind' }],
  },
)
export type OrderRefund = Static<typeof OrderRefundSchema>
export const OrderRefundRef = refTo(OrderRefundSchema)

const DepositSettlementSchema = Type.Object(
  {
    refund: AmountSchema(
      'What the customer gets back of the deposit. The shop keeps the rest, which becomes sales.',
    ),
    currency: OWN_CURRENCY,
    method: LaterPaymentField,
    reason,
  },
  {
    $id: 'DepositSettlement',
    additionalProperties: false,
    description: 'The end of a deposit.',
    examples: [{ refund: '20.00', method: 'cash' }],
  },
)
export type DepositSettlement = Static<typeof DepositSettlementSchema>
export const DepositSettlementRef = refTo(DepositSettlementSchema)

const CashMovementSchema = Type.Object(
  {
    direction: Type.Unsafe<'in' | 'out'>({
      type: 'string',
      enum: ['in', 'out'],
      description: 'Whether the cash is put into the drawer or taken out.',
    }),
    amount: AmountSchema('How much, more than 0.'),
    currency: OWN_CURRENCY,
    note: Type.String({
      minLength: 1,
      maxLength: NOTE_LENGTH_MAX,
      description: 'What for, such as `change from the bank`.',
    }),
  },
  {
    $id: 'CashMovement',
    additionalProperties: false,
    description: 'Cash that is put into the drawer or taken out without a sale.',
    examples: [{ direction: 'in', amount: '50.00', note: 'change from the bank' }],
  },
)
export type CashMovement = Static<typeof CashMovementSchema>
export const CashMovementRef = refTo(CashMovementSchema)

const CLOSING_FIELDS = {
  day: day('The day of the shop. Its closing also closes the days before.'),
  counted: AmountSchema('The cash that was counted in the drawer.'),
  kept: AmountSchema('The part of it that stays in the drawer for the next day.'),
  note: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: NOTE_LENGTH_MAX,
      description: 'Why the cash differs, for example.',
    }),
  ),
}

const NewClosingSchema = Type.Object(
  { ...CLOSING_FIELDS, currency: OWN_CURRENCY },
  {
    $id: 'NewClosing',
    additionalProperties: false,
    description: 'A day to close.',
    examples: [{ day: '2026-11-19', counted: '213.00', kept: '100.00' }],
  },
)
export type NewClosing = Static<typeof NewClosingSchema>
export const NewClosingRef = refTo(NewClosingSchema)

export const ClosingSchema = Type.Object(
  {
    ...CLOSING_FIELDS,
    at: time('When the day was closed.'),
    closedBy: name('Who closed the day: the present name of the person or program.'),
    currency: CurrencySchema,
    expected: signed(
      'The cash that should have been in the drawer: the cash kept before, and the cash entries since.',
    ),
    difference: signed('`counted` minus `expected`.'),
  },
  { $id: 'Closing', description: 'A closed day. No later entry counts for it.' },
)
export type Closing = ResponseOf<typeof ClosingSchema>

export const ClosingsSchema = Type.Array(refTo(ClosingSchema), {
  $id: 'Closings',
  description: 'Closings, the newest day first.',
})

const SUMS = { currency: CurrencySchema, pets, sales, paid }
const amounts = (description: string) =>
  Type.Array(Type.Object({ currency: CurrencySchema, amount: signed('The sum.') }), { description })

export const TotalsSchema = Type.Object(
  {
    timeZone: Type.String({ description: 'The time zone of the shop, which decides when a day begins.' }),
    today: day('The day of the shop now.'),
    from: day('The first day.'),
    to: day('The last day.'),
    closedThrough: Type.Optional(day('The last closed day. Absent if no day is closed.')),
    totals: Type.Array(Type.Object(SUMS), {
      description: 'The sums of each currency. Empty without entries.',
    }),
    groups: Type.Optional(
      Type.Array(
        Type.Object({
          day: Type.Optional(day('With `by=day`.')),
          seller: name('With `by=seller`: the present name. Absent for entries without a seller.'),
          categoryId: Type.Optional(Type.Unsafe<bigint>({ ...Int64, description: 'With `by=category`.' })),
          method: Type.Optional(method('With `by=method`. Absent for entries without a method.')),
          kind: Type.Optional(
            Type.Unsafe<EntryKind>({ type: 'string', enum: ENTRY_KINDS, description: 'With `by=kind`.' }),
          ),
          ...SUMS,
        }),
        { description: 'The same sums for each day, seller, category, method or kind. Only with `by`.' },
      ),
    ),
    deposits: amounts('The deposits that are held at the end of the last day.'),
    cash: amounts('Cash put in minus cash taken out on these days. It is in no other sum of this response.'),
    drawer: Type.Optional(
      Type.Object(
        { currency: CurrencySchema, expected: signed('The expected cash.') },
        {
          description:
            'The cash that should be in the drawer at the end of the last day. Absent if that day is closed.',
        },
      ),
    ),
  },
  {
    $id: 'Totals',
    description: 'Sums of the entries of some days of the shop, without cash put in or taken out.',
  },
)
export type Totals = ResponseOf<typeof TotalsSchema>

export const TILL_SCHEMAS = [
  EntrySchema,
  EntriesSchema,
  OrderCorrectionSchema,
  OrderRefundSchema,
  DepositSettlementSchema,
  CashMovementSchema,
  NewClosingSchema,
  ClosingSchema,
  ClosingsSchema,
  TotalsSchema,
]

const dayParameter = (description: string) => Type.Optional(Type.String({ format: 'date', description }))

export const ListEntriesQuery = Type.Object({
  limit: LimitParameter(LIST_LIMIT_DEFAULT),
  orderId: Type.Optional(
    Type.Unsafe<bigint>({
      ...Int64,
      'x-not-with': ['petId'],
      description: 'Return only entries of this order. Cannot be combined with `petId`.',
    }),
  ),
  petId: Type.Optional(Type.Unsafe<bigint>({ ...Int64, description: 'Return only entries of this pet.' })),
  from: dayParameter('Return only entries of this day of the shop or later ones.'),
  to: dayParameter('Return only entries of this day of the shop or earlier ones.'),
  cursor: CursorParameter,
})

export const GetTotalsQuery = Type.Object({
  from: dayParameter('The first day. Default: the last one.'),
  to: dayParameter(`The last day, less than ${TOTAL_DAYS_MAX} days after the first one. Default: today.`),
  by: Type.Optional(
    Type.Unsafe<Grouping>({
      type: 'string',
      enum: GROUPINGS,
      description: 'Also return sums for each of these.',
    }),
  ),
})

export const ListClosingsQuery = Type.Object({
  limit: LimitParameter(LIST_LIMIT_DEFAULT),
  cursor: CursorParameter,
})

export const EntryParams = Type.Object(
  { entryId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the entry.' }) },
  { notFound: 'entry_not_found' },
)
