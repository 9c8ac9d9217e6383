// A change of a pet in plain words: who did what, and why.
import type { HistoryEntry, PetStatus } from '@petstore/client'
import { FACT_NAMES, type FactName, FACTS } from '../profile/facts.ts'
import { priceText } from '../profile/price.ts'

/** The actor of changes that the service itself makes. */
const SERVICE = 'petstore'

const STATUS_WORDS: Record<PetStatus, string> = { available: 'available', pending: 'on hold', sold: 'sold' }

export interface EntryText {
  who: string
  what: string
  why: string | undefined
}

/** `nameOf` returns the name of a category. */
export function entryText(entry: HistoryEntry, nameOf: (categoryId: string) => string): EntryText {
  const who = entry.actor === SERVICE ? 'Petstore' : entry.actor
  return { who, what: whatText(entry, nameOf), why: entry.reason }
}

function whatText(entry: HistoryEntry, nameOf: (categoryId: string) => string): string {
  switch (entry.event) {
    case 'created':
      return 'added the pet'
    case 'order_placed':
      return 'put the pet on hold'
    case 'order_completed':
      return 'sold the pet'
    case 'order_cancelled':
      return 'released the hold'
    case 'order_expired':
      return 'ended the hold, because its time ran out'
    case 'taken_back':
      return 'took the pet back'
    case 'sale_voided':
      return 'undid the sale'
    case 'return_voided':
      return 'undid the return'
    case 'updated':
      return changesText(entry, nameOf)
    default:
      // A later version of the service can add events.
      return 'changed the pet'
  }
}

type Values = NonNullable<HistoryEntry['from']>

const LONG_FACTS = FACT_NAMES.filter((name) => FACTS[name].isLong)
const LINE_FACTS = FACT_NAMES.filter((name) => !FACTS[name].isLong)

function wordsOf(name: FactName): string {
  const { label, words = label.toLowerCase() } = FACTS[name]
  return words
}

function factText(values: Values, name: FactName): string | undefined {
  const [value, { historyText }] = [values[name], FACTS[name]]
  return value !== undefined && historyText ? historyText(value) : value
}

function changesText({ from = {}, to = {} }: HistoryEntry, nameOf: (categoryId: string) => string): string {
  const textsOf = (values: Values): Record<string, string | undefined> => ({
    name: values.name,
    category: values.categoryId && nameOf(values.categoryId),
    status: values.status && STATUS_WORDS[values.status],
    price: priceText(values),
    ...Object.fromEntries(LINE_FACTS.map((name) => [wordsOf(name), factText(values, name)])),
  })
  const before = textsOf(from)
  const changes = Object.entries(textsOf(to)).map(([field, text]) => changeText(field, before[field], text))
  for (const name of LONG_FACTS) if (from[name] !== to[name]) changes.push(`the ${wordsOf(name)}`)
  const known = changes.filter((text) => text !== undefined)
  return known.length === 0 ? 'changed the pet' : `changed ${listText(known)}`
}

function changeText(field: string, from: string | undefined, to: string | undefined): string | undefined {
  if (to === undefined) return from === undefined ? undefined : `the ${field} from ${from} to none`
  return from === undefined ? `the ${field} to ${to}` : `the ${field} from ${from} to ${to}`
}

/** Such as "a, b and c". */
function listText(parts: string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
