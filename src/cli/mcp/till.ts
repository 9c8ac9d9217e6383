// The tool about the money: totals of the ledger, and its newest entries.
import { Type } from 'typebox'
import type { Entry } from '../../../client/src/petstore.ts'
import { GET_TOTALS, LIST_ENTRIES } from '../../../client/src/rules.ts'
import { localInstant } from './results.ts'
import { EntryShape, inputOf, SumsShape, TillShape } from './schemas.ts'
import { defineTool } from './tool.ts'

const ENTRIES = 20

type Grouping = (typeof GET_TOTALS.by.enum)[number]

const day = (description: string) =>
  Type.Optional(Type.String({ format: GET_TOTALS.from.format, description }))

export const showTill = defineTool({
  name: 'show_till',
  title: 'Show the money of some days',
  description:
    'Shows the net sales, the money taken, the deposits that are held and the expected cash in the drawer, for today or for other days of the shop, and the newest entries of these days: sales, corrections, refunds, deposits, and cash put in or taken out. Use it for questions about money, such as the sales of today or of each seller. Corrections and refunds are included.',
  scopes: ['orders:read'],
  effect: 'reads',
  input: inputOf({
    from: day('The first day, such as 2026-11-01. Without it, the last one.'),
    to: day('The last day, at most a year after the first. Without it, today in the time zone of the shop.'),
    by: Type.Optional(
      Type.Unsafe<Grouping>({
        type: 'string',
        enum: GET_TOTALS.by.enum,
        description: 'Also the sums for each day, seller, category, payment method or kind of entry.',
      }),
    ),
    entries: Type.Optional(
      Type.Integer({
        minimum: LIST_ENTRIES.limit.minimum,
        maximum: LIST_ENTRIES.limit.maximum,
        default: ENTRIES,
        description: 'Max number of entries.',
      }),
    ),
  }),
  output: Type.Object({
    ...TillShape.properties,
    groups: Type.Optional(Type.Array(SumsShape, { description: 'Only with by.' })),
    entries: Type.Array(EntryShape, { description: 'Newest first.' }),
    isComplete: Type.Boolean({ description: 'False if older entries of these days are left out.' }),
  }),
  run: async ({ entries: limit = ENTRIES, ...query }, { store, call }) => {
    const totals = await store.till.totals(query, call)
    const { from, to } = totals
    const { items, nextCursor } = await store.till.entries({ from, to, limit }, call).page()
    return { ...totals, entries: items.map(toEntry), isComplete: nextCursor === undefined }
  },
})

function toEntry({ id: entryId, actor: by, at, ...entry }: Entry) {
  return { entryId, ...entry, by, at: localInstant(at) }
}
