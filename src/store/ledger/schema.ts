// JSON schemas of the ledger: an entry, and what a request says about a movement of money.
import { Type } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'
import type { ResponseOf } from '../../contract/named-schema.ts'
import { CurrencySchema } from '../../contract/price.ts'

export const ENTRY_KINDS = ['deposit', 'sale', 'correction', 'refund', 'forfeit', 'void', 'cash'] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]
const PAYMENT_METHODS = ['cash', 'card', 'transfer', 'other'] as const
export type PaymentMethod = (typeof PAYMENT_METHODS)[number]
const ENTRY_REASONS = ['wrong_price', 'changed_mind', 'ill', 'discount', 'other'] as const
export type EntryReason = (typeof ENTRY_REASONS)[number]

export const method = (description: string) =>
  Type.Unsafe<PaymentMethod>({ type: 'string', enum: PAYMENT_METHODS, description })
export const reason = Type.Optional(
  Type.Unsafe<EntryReason>({
    type: 'string',
    enum: ENTRY_REASONS,
    description: 'Why. A longer text belongs into the note of the order.',
  }),
)
export const day = (description: string) =>
  Type.String({ format: 'date', description, examples: ['2026-11-19'] })
export const time = (description: string) =>
  Type.Unsafe<Date>({ type: 'string', format: 'date-time', description })
export const signed = (description: string) => Type.String({ description, examples: ['-100.00'] })
export const pets = Type.Integer({ description: 'Net pets sold: negative if pets came back.' })
export const sales = signed('Net sales: without deposits that are held.')
export const paid = signed('Money that came into the till; negative if it left the till.')
export const name = (description: string) => Type.Optional(Type.String({ description }))

export const PaymentField = Type.Optional(method('How the money is paid. Console and receipts show it.'))
export const LaterPaymentField = Type.Optional(
  method('How the money is paid. Default: that of the sale, or that of the deposit before it is sold.'),
)
export const EntrySchema = Type.Object(
  {
    id: Type.Unsafe<bigint>({ ...Int64, description: 'Assigned by the service.' }),
    orderId: Type.Optional(
      Type.Unsafe<bigint>({ ...Int64, description: 'The order. Absent with the kind `cash`.' }),
    ),
    petId: Type.Optional(Type.Unsafe<bigint>({ ...Int64, description: 'Its pet.' })),
    kind: Type.Unsafe<EntryKind>({ type: 'string', enum: ENTRY_KINDS }),
    day: day(
      'The day of the shop for which the entry counts. After the closing of a day, it is the next one.',
    ),
    at: time('When the entry was written.'),
    paid,
    sales,
    pets,
    currency: CurrencySchema,
    method: Type.Optional(method('How the money was paid. Absent if no request said it.')),
    categoryId: Type.Optional(
      Type.Unsafe<bigint>({ ...Int64, description: 'The category of the pet when it was sold.' }),
    ),
    seller: name('Whose sale it is: the present name of the person or program.'),
    actor: name('Who wrote the entry: the present name of the person or program.'),
    reason,
    note: Type.Optional(Type.String({ description: 'What the cash was for. Only with the kind `cash`.' })),
    voidedEntryId: Type.Optional(
      Type.Unsafe<bigint>({
        ...Int64,
        description: 'The entry that this one takes back. Only with the kind `void`.',
      }),
    ),
  },
  {
    $id: 'Entry',
    description:
      'An entry of the ledger: one movement of money. Entries are never changed; every total is a sum of entries.',
  },
)
export type Entry = ResponseOf<typeof EntrySchema>
