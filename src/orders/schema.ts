// The shapes of an order: it holds one animal for a while, then sells it or lets it go.
import { type Static, Type } from 'typebox'
import { Int64 } from '../int64-schema.ts'
import { CursorParameter, LimitParameter } from '../paging.ts'
import { HOLD_MINUTES_MAX } from './hold-limit.ts'

export const ORDER_STATUSES = ['open', 'completed', 'cancelled', 'expired'] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

const NOTE_LENGTH_MAX = 500
export const LIST_LIMIT_DEFAULT = 20

const note = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: NOTE_LENGTH_MAX,
    description: 'For the staff: who wants it, when they come.',
  }),
)
const time = (description: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description })

const NewOrderSchema = Type.Object(
  {
    petId: Type.Unsafe<bigint>({ ...Int64, description: 'The animal to hold.' }),
    holdMinutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: HOLD_MINUTES_MAX,
        description: 'How long to hold it; an hour unless the operator chose another default.',
      }),
    ),
    note,
  },
  {
    $id: 'NewOrder',
    description: 'An order to place.',
    examples: [{ petId: 42, holdMinutes: 30, note: 'Ms Okafor, comes at noon' }],
  },
)
export type NewOrder = Static<typeof NewOrderSchema>
export const NewOrderRef = Type.Unsafe<NewOrder>({ $ref: 'NewOrder#' })

const OrderSchema = Type.Object(
  {
    id: Type.Unsafe<bigint>({ ...Int64, description: 'Assigned by the service.' }),
    petId: Type.Unsafe<bigint>({ ...Int64, description: 'The animal.' }),
    status: Type.Unsafe<OrderStatus>({ type: 'string', enum: ORDER_STATUSES }),
    note,
    placedBy: Type.String({ description: 'Name of the API key that placed it.' }),
    createdAt: time('When it was placed.'),
    expiresAt: time('When the hold ends by itself.'),
    closedAt: Type.Optional(time('When it ended, in whatever way.')),
  },
  { $id: 'Order', description: 'A hold on an animal, and how it ended.' },
)
/** Written out, since an absent value may also be undefined here. */
export interface Order {
  id: bigint
  petId: bigint
  status: OrderStatus
  note?: string | undefined
  placedBy: string
  createdAt: Date
  expiresAt: Date
  closedAt?: Date | undefined
}

const OrdersSchema = Type.Unsafe<Order[]>({
  $id: 'Orders',
  type: 'array',
  items: { $ref: 'Order#' },
  description: 'Orders, newest first.',
})

export const ORDER_SCHEMAS = [NewOrderSchema, OrderSchema, OrdersSchema]

export const ListOrdersQuery = Type.Object({
  limit: LimitParameter(LIST_LIMIT_DEFAULT),
  status: Type.Optional(
    Type.Unsafe<OrderStatus>({
      type: 'string',
      enum: ORDER_STATUSES,
      description: 'Only orders with this status.',
    }),
  ),
  petId: Type.Optional(Type.Unsafe<bigint>({ ...Int64, description: 'Only orders of this animal.' })),
  cursor: CursorParameter,
})

export const OrderParams = Type.Object(
  { orderId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the order.' }) },
  { notFound: 'order_not_found' },
)
