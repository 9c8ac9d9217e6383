// JSON schemas of orders. An order holds one pet for a limited time, then sells or releases it.
import { type Static, Type } from 'typebox'
import { HOLD_MINUTES_MAX } from '../../contract/hold-limit.ts'
import { Int64 } from '../../contract/int64-schema.ts'
import { optionalBody, orNull, refTo, type ResponseOf } from '../../contract/named-schema.ts'
import { CursorParameter, LimitParameter } from '../../contract/paging-parameters.ts'
import { AmountSchema, CurrencySchema, PRICE_FIELDS, PriceSchema } from '../../contract/price.ts'
import { PaymentField, reason } from '../ledger/schema.ts'

export const ORDER_STATUSES = ['open', 'completed', 'cancelled', 'expired'] as const
/** Sort orders other than newest first. */
const ORDER_SORTS = ['expiresAt', 'closedAt'] as const
export type OrderSort = (typeof ORDER_SORTS)[number]
export type OrderStatus = (typeof ORDER_STATUSES)[number]

const NOTE_LENGTH_MAX = 500
export const LIST_LIMIT_DEFAULT = 20

const NoteSchema = Type.String({
  minLength: 1,
  maxLength: NOTE_LENGTH_MAX,
  description: 'Note for the staff, such as the buyer and the time of pickup.',
})
const note = Type.Optional(NoteSchema)
const amount = (description: string) =>
  Type.String({
    description: `${description} Events of type \`order.entry_added\` have it, other events do not.`,
    examples: ['119.00'],
  })
const time = (description: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description })

const NewOrderSchema = Type.Object(
  {
    petId: Type.Unsafe<bigint>({ ...Int64, description: 'Id of the pet to hold.' }),
    holdMinutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: HOLD_MINUTES_MAX,
        description:
          'How long to hold the pet, in minutes. Default: 60, unless the operator has set another default.',
      }),
    ),
    note,
    ...PRICE_FIELDS,
    deposit: Type.Optional(
      AmountSchema('Money that the customer pays now, more than 0. A sale settles it; otherwise settle it.'),
    ),
    method: PaymentField,
  },
  {
    $id: 'NewOrder',
    additionalProperties: false,
    description: 'The order to place.',
    examples: [{ petId: 42, holdMinutes: 30, note: 'Ms Okafor, comes at noon', price: '129.00' }],
  },
)
export type NewOrder = Static<typeof NewOrderSchema>
export const NewOrderRef = refTo(NewOrderSchema)

const OrderChangesSchema = Type.Object(
  {
    note: Type.Optional(orNull(NoteSchema)),
    expiresAt: Type.Optional(
      Type.String({
        format: 'date-time',
        'x-within-minutes': HOLD_MINUTES_MAX,
        description: `When the order expires, unless it is completed or cancelled first: in the future, and at most ${HOLD_MINUTES_MAX} minutes from now. Only for an open order.`,
      }),
    ),
  },
  {
    $id: 'OrderChanges',
    additionalProperties: false,
    description: 'The fields to change. Absent ones stay unchanged, and `null` clears the note.',
    examples: [{ note: 'Ms Okafor, paid a deposit of 50.00' }],
  },
)
export type OrderChanges = Static<typeof OrderChangesSchema>
export const OrderChangesRef = refTo(OrderChangesSchema)

const OrderCompletionSchema = Type.Object(
  { note: Type.Optional(orNull(NoteSchema)), ...PRICE_FIELDS, method: PaymentField, reason },
  {
    $id: 'OrderCompletion',
    additionalProperties: false,
    description: 'How the order ends. Absent fields stay unchanged, and `null` clears the note.',
    examples: [{ price: '119.00', method: 'card' }],
  },
)
export type OrderCompletion = Static<typeof OrderCompletionSchema>
export const OrderCompletionRef = optionalBody(refTo(OrderCompletionSchema))

export const OrderSchema = Type.Object(
  {
    id: Type.Unsafe<bigint>({ ...Int64, description: 'Assigned by the service.' }),
    petId: Type.Unsafe<bigint>({ ...Int64, description: 'Id of the pet.' }),
    status: Type.Unsafe<OrderStatus>({ type: 'string', enum: ORDER_STATUSES }),
    note,
    price: Type.Optional(PriceSchema),
    netPrice: Type.Optional(
      amount(
        'What the sale has brought so far: the price after corrections and refunds. Present once the order was completed.',
      ),
    ),
    deposit: Type.Optional(amount('The deposit that the order holds. Absent without one.')),
    currency: Type.Optional(CurrencySchema),
    placedBy: Type.String({ description: 'Present name of the program or person that placed the order.' }),
    createdAt: time('When the order was placed.'),
    expiresAt: time('When the order expires, unless it is completed or cancelled first.'),
    closedAt: Type.Optional(
      time('When the order was completed, cancelled or expired. Absent while it is open.'),
    ),
    broughtBackAt: Type.Optional(
      time('When the pet came back, or the sale was voided. Absent while the order sells the pet.'),
    ),
  },
  { $id: 'Order', description: 'A hold on a pet, and how it ended.' },
)
export type Order = ResponseOf<typeof OrderSchema>

export const OrdersSchema = Type.Array(refTo(OrderSchema), {
  $id: 'Orders',
  description: 'Orders, newest first, or sorted by the time that `sort` names.',
})

export const ORDER_SCHEMAS = [
  NewOrderSchema,
  OrderChangesSchema,
  OrderCompletionSchema,
  OrderSchema,
  OrdersSchema,
]

const closedTime = (description: string) =>
  Type.Optional(
    Type.String({
      format: 'date-time',
      'x-only-with': { sort: 'closedAt' },
      description: `${description} Requires \`sort=closedAt\`.`,
    }),
  )

export const ListOrdersQuery = Type.Object({
  limit: LimitParameter(LIST_LIMIT_DEFAULT),
  status: Type.Optional(
    Type.Unsafe<OrderStatus>({
      type: 'string',
      enum: ORDER_STATUSES,
      description: 'Return only orders with this status.',
    }),
  ),
  petId: Type.Optional(
    Type.Unsafe<bigint>({
      ...Int64,
      'x-not-with': ['sort=closedAt'],
      description: 'Return only orders for this pet. Cannot be combined with `sort=closedAt`.',
    }),
  ),
  sort: Type.Optional(
    Type.Unsafe<OrderSort>({
      type: 'string',
      enum: ORDER_SORTS,
      'x-only-with': { status: { expiresAt: 'open', closedAt: 'completed' } },
      description:
        'Sort the orders by this field, and then by id, instead of newest first. With `expiresAt`, the order that expires next comes first; requires `status=open`. With `closedAt`, the order that was completed last comes first; requires `status=completed`.',
    }),
  ),
  closedFrom: closedTime('Return only orders that were completed at this time or later.'),
  closedTo: closedTime('Return only orders that were completed before this time.'),
  cursor: CursorParameter,
})

export const OrderParams = Type.Object(
  { orderId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the order.' }) },
  { notFound: 'order_not_found' },
)
