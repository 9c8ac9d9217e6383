// The rows of each list in sort order, and the rows on each page.
import { apiKeyBody } from './api-keys.ts'
import { categoryBody, petBody } from './pets.ts'
import {
  type Entry,
  type Id,
  type Order,
  type OrderStatus,
  type PetStatus,
  type Store,
  withNames,
} from './store.ts'
import { entryBody as moneyBody, orderBody } from './money.ts'
import { closingBody } from './till.ts'

export type List =
  | { of: 'pets'; status?: PetStatus | undefined; categoryId?: Id | undefined }
  | { of: 'names'; name?: string; sort?: 'name'; status?: PetStatus | undefined }
  | { of: 'words'; word: string; status?: PetStatus | undefined; categoryId?: Id | undefined }
  | OrderList
  | { of: 'history'; petId: Id }
  | EntryList
  | { of: 'closings' }
  | { of: 'categories' }
  | { of: 'apiKeys'; kind?: 'program' | 'person' | undefined }

interface EntryList {
  of: 'entries'
  orderId?: Id | undefined
  petId?: Id | undefined
  from?: string | undefined
  to?: string | undefined
}

interface OrderList {
  of: 'orders'
  status?: OrderStatus | undefined
  petId?: Id | undefined
  sort?: 'expiresAt' | 'closedAt' | undefined
  closedFrom?: string | undefined
  closedTo?: string | undefined
}

/** The sort key of a row. */
export type Place = readonly (Id | string)[]

export interface Row {
  place: Place
  item: unknown
}

/** All rows; undefined if there is no such list, such as the history of an unknown pet. */
export function rowsOf(store: Store, list: List): Row[] | undefined {
  const rows = unsortedRowsOf(store, list)
  const shown = rows?.map(({ place, item }) => ({ place, item: withNames(store, item) }))
  return shown?.toSorted((a, b) => compare(a.place, b.place))
}

function unsortedRowsOf(store: Store, list: List): Row[] | undefined {
  switch (list.of) {
    case 'pets':
    case 'words':
      return [...store.pets.values()]
        .filter(({ name }) => list.of === 'pets' || hasWords(name, list.word))
        .filter((pet) => (list.status ?? pet.status) === pet.status)
        .filter((pet) => (list.categoryId ?? pet.categoryId) === pet.categoryId)
        .map((pet) => ({ place: [-pet.id], item: petBody(pet) }))
    case 'names':
      return [...store.pets.values()]
        .filter(({ name }) => name.toLowerCase().startsWith((list.name ?? '').toLowerCase()))
        .filter((pet) => (list.status ?? pet.status) === pet.status)
        .map((pet) => ({ place: [pet.name.toLowerCase(), pet.id], item: petBody(pet) }))
    case 'orders':
      return [...store.orders.values()]
        .filter((order) => (list.status ?? order.status) === order.status)
        .filter((order) => Number(list.petId ?? order.petId) === order.petId)
        .filter(({ closedAt = '' }) => closedAt >= (list.closedFrom ?? ''))
        .filter(({ closedAt = '' }) => list.closedTo === undefined || closedAt < list.closedTo)
        .map((order) => ({ place: placeOf(store, order, list), item: orderBody(store, order) }))
    case 'history':
      return store.pets
        .get(Number(list.petId))
        ?.history.map((entry, index) => ({ place: [-index], item: entryBody(entry) }))
    case 'categories': {
      const used = [...store.pets.values()].map(({ categoryId }) => categoryId)
      const ids = new Set([...store.categories.keys(), ...used])
      return [...ids].map((id) => ({ place: [id], item: categoryBody(store, id) }))
    }
    case 'entries':
      return store.entries
        .filter(({ orderId }) => list.orderId === undefined || Number(list.orderId) === orderId)
        .filter(({ petId }) => list.petId === undefined || Number(list.petId) === petId)
        .filter(({ day }) => day >= (list.from ?? '') && day <= (list.to ?? day))
        .map((entry) => ({ place: [-Date.parse(entry.day), -(entry.id ?? 0)], item: moneyBody(entry) }))
    case 'closings':
      return store.closings.map((closing) => ({
        place: [-Date.parse(closing.day)],
        item: closingBody(closing),
      }))
    case 'apiKeys':
      break
  }
  // Nobody signs in.
  if (list.kind === 'person') return []
  return [...store.apiKeys.values()].map((apiKey) => ({
    place: [-apiKey.id],
    item: { ...apiKeyBody(apiKey), isRevoked: apiKey.isRevoked },
  }))
}

/** Whether the name has, for each word of the text, a word that starts with it. */
function hasWords(name: string, text: string): boolean {
  const words = wordsOf(name)
  return wordsOf(text).every((wanted) => words.some((word) => word.startsWith(wanted)))
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s\p{P}]+/u)
    .filter((word) => word !== '')
}

function placeOf({ events }: Store, order: Order, { sort }: OrderList): Place {
  if (sort === 'expiresAt') return [order.expiresAt, order.id]
  // Two orders can be closed in the same millisecond. Their events show which one was first.
  if (sort === 'closedAt')
    return [
      -events.findLastIndex(({ type, order: its }) => type === 'order.completed' && its?.id === order.id),
    ]
  return [-order.id]
}

export interface Page {
  items: unknown[]
  /** The place of the last item, if more follow. */
  next: Place | undefined
}

export function pageOf(rows: readonly Row[], after: Place | undefined, limit: number): Page {
  const left = rows.filter(({ place }) => after === undefined || compare(place, after) > 0)
  const page = left.slice(0, limit)
  return { items: page.map(({ item }) => item), next: left.length > limit ? page.at(-1)?.place : undefined }
}

function entryBody({ requestId, ...entry }: Entry): Record<string, unknown> {
  return { ...entry, ...(requestId !== undefined && { requestId }) }
}

function compare(a: Place, b: Place): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] as typeof part
    if (part !== other) return isBefore(part, other) ? -1 : 1
  }
  return 0
}

/** Compares texts by their bytes in UTF-8, which is the order of their code points. */
function isBefore(a: Id | string, b: Id | string): boolean {
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b))) < 0
  return a < (b as Id)
}
