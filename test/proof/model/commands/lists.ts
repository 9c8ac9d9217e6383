// Commands on lists: whole walks, single pages, pages continued after the store has changed, and cursors of another list.
import * as fc from 'fast-check'
import { parseExactly } from '../../../support/client.ts'
import { linkTo } from '../../../support/pets.ts'
import { type Sender, callBoth, requireSame, type Session } from '../fixture.ts'
import { type List, pageOf, type Place, rowsOf } from '../reference/lists.ts'
import { type Expected, reject } from '../reference/store.ts'
import { dayFromToday } from '../reference/till.ts'
import * as some from './choices.ts'
import { type Choice, type Command, command, pickOrder, pickPet } from './choices.ts'

interface Source {
  operation: string
  scope: string
  path: string
  /** The default limit. */
  limit: number
}

function sourceOf(list: List): Source {
  switch (list.of) {
    case 'pets':
    case 'names':
    case 'words':
      return { operation: 'listPets', scope: 'pets:read', path: '/pets', limit: 20 }
    case 'orders':
      return { operation: 'listOrders', scope: 'orders:read', path: '/store/orders', limit: 20 }
    case 'history':
      return {
        operation: 'getPetHistory',
        scope: 'pets:read',
        path: `/pets/${list.petId}/history`,
        limit: 20,
      }
    case 'categories':
      return { operation: 'listCategories', scope: 'pets:read', path: '/categories', limit: 100 }
    case 'entries':
      return { operation: 'listEntries', scope: 'orders:read', path: '/store/entries', limit: 20 }
    case 'closings':
      return { operation: 'listClosings', scope: 'orders:read', path: '/store/day-closings', limit: 20 }
    case 'apiKeys':
      break
  }
  return { operation: 'listApiKeys', scope: 'admin', path: '/api-keys', limit: 20 }
}

function queryOf(list: List): Record<string, unknown> {
  const { of, ...filters } = list
  return of === 'history' ? {} : filters
}

interface PageRequest {
  list: List
  limit: number | undefined
  from?: { after: Place; cursor: string }
}

/** Gets one page and compares it. Returns where the next page starts. */
export async function getPage(
  session: Session,
  sender: Sender,
  { list, limit, from }: PageRequest,
): Promise<{ after: Place; cursor: string } | undefined> {
  const { limit: byDefault, ...source } = sourceOf(list)
  const query = toQuery({ ...queryOf(list), limit, cursor: from?.cursor })
  let next: Place | undefined
  const response = await callBoth(
    session,
    sender,
    { ...source, method: 'GET', path: `${source.path}${query}` },
    (_caller, seen): Expected => {
      const rows = rowsOf(session.store, list)
      if (rows === undefined) return reject('pet_not_found')
      const page = pageOf(rows, from?.after, limit ?? byDefault)
      next = page.next
      if (Array.isArray(seen)) comparePage(list, seen as Record<string, unknown>[], page.items)
      return { status: 200 }
    },
  )
  const link = linkTo('next', response, session.instances[sender.at].client.origin)
  requireSame('link to a next page', link !== undefined, next !== undefined)
  if (link === undefined || next === undefined) return undefined
  return { after: next, cursor: new URL(link, 'http://petstore.test').searchParams.get('cursor') ?? '' }
}

function comparePage(list: List, seen: readonly Record<string, unknown>[], expected: unknown[]): void {
  requireSame(
    'page',
    seen.map((item) => predictablePart(list, item)),
    expected,
  )
  if (list.of !== 'history') return
  const times = seen.map(({ at }) => String(at))
  requireSame('order of times', times, times.toSorted().toReversed())
}

/** Reads every page to the end, alternating between the instances. */
export async function walk(
  session: Session,
  sender: Sender,
  list: List,
  limit: number | undefined,
): Promise<void> {
  let { at } = sender
  let from = await getPage(session, sender, { list, limit })
  while (from !== undefined) {
    at = at === 0 ? 1 : 0
    from = await getPage(session, { ...sender, at }, { list, limit, from })
  }
}

/** The item without times and request ids, which only the service can choose. */
function predictablePart(list: List, item: Record<string, unknown>): Record<string, unknown> {
  if (list.of === 'history') {
    const { at: _at, requestId, ...rest } = item
    return rest['event'] === 'order_expired' ? rest : { ...rest, requestId }
  }
  if (list.of !== 'apiKeys') return item
  const { revokedAt, ...rest } = item
  return { ...rest, isRevoked: revokedAt !== undefined }
}

function toQuery(parameters: Record<string, unknown>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

const petList: fc.Arbitrary<(session: Session) => List> = fc.oneof(
  fc
    .record({
      status: some.optional(some.petStatus),
      categoryId: some.optional(some.categoryId),
    })
    .map((filters) => () => ({ of: 'pets' as const, ...filters })),
  fc
    .record({ name: some.namePrefix, status: some.optional(some.petStatus) })
    .map((search) => () => ({ of: 'names' as const, ...search })),
  fc
    .record({
      word: some.word,
      status: some.optional(some.petStatus),
      categoryId: some.optional(some.categoryId),
    })
    .map((search) => () => ({ of: 'words' as const, ...search })),
  fc
    .record({ sort: fc.constant('name' as const), status: some.optional(some.petStatus) })
    .map((all) => () => ({ of: 'names' as const, ...all })),
)

/** A list; which pet it refers to depends on the session. */
const anyList: fc.Arbitrary<(session: Session) => List> = fc.oneof(
  { arbitrary: petList, weight: 4 },
  fc
    .record({ status: some.optional(some.orderStatus), pet: some.optional(some.choice) })
    .map(({ status, pet }) => (session: Session) => ({
      of: 'orders' as const,
      status,
      petId: pet === undefined ? undefined : pickPet(session, pet),
    })),
  fc.constant(() => ({ of: 'orders' as const, status: 'open' as const, sort: 'expiresAt' as const })),
  fc
    .record({ from: some.optional(some.choice), to: some.optional(some.choice) })
    .map(({ from, to }) => (session: Session) => ({
      of: 'orders' as const,
      status: 'completed' as const,
      sort: 'closedAt' as const,
      closedFrom: from === undefined ? undefined : closingTime(session, from),
      closedTo: to === undefined ? undefined : closingTime(session, to),
    })),
  some.choice.map((pet) => (session: Session) => ({ of: 'history' as const, petId: pickPet(session, pet) })),
  fc.constant(() => ({ of: 'categories' as const })),
  fc
    .record({ order: some.optional(some.choice), days: some.optional(fc.constantFrom(-1, 0)) })
    .map(({ order, days }) => (session: Session) => ({
      of: 'entries' as const,
      orderId: order === undefined ? undefined : pickOrder(session, order),
      from: days === undefined ? undefined : dayFromToday(session.store, days),
    })),
  fc
    .record({ pet: some.optional(some.choice), days: some.optional(fc.constantFrom(-1, 0)) })
    .map(({ pet, days }) => (session: Session) => ({
      of: 'entries' as const,
      petId: pet === undefined ? undefined : pickPet(session, pet),
      to: days === undefined ? undefined : dayFromToday(session.store, days),
    })),
  fc.constant(() => ({ of: 'closings' as const })),
  fc
    .record({ kind: some.optional(fc.constantFrom('program' as const, 'person' as const)) })
    .map(({ kind }) => () => ({ of: 'apiKeys' as const, kind })),
)

/** When an order ended; of an order that is open or unknown, a time before all orders. */
function closingTime(session: Session, chosen: Choice): string {
  return session.store.orders.get(Number(pickOrder(session, chosen)))?.closedAt ?? '2000-01-01T00:00:00.000Z'
}

const walkList = command({ list: anyList, limit: some.limit }, async (session, sender, { list, limit }) => {
  await walk(session, sender, list(session), limit)
})

const firstPage = command(
  { list: anyList, limit: fc.constantFrom(1, 2) },
  async (session, sender, { list, limit }) => {
    const wanted = list(session)
    const next = await getPage(session, sender, { list: wanted, limit })
    if (next !== undefined) session.cursors.push({ list: wanted, ...next })
  },
)

const nextPage = command(
  { chosen: fc.nat(3), limit: some.limit },
  async (session, sender, { chosen, limit }) => {
    const from = session.cursors.at(-1 - chosen)
    if (from === undefined) return
    const next = await getPage(session, sender, { list: from.list, limit, from })
    if (next !== undefined) session.cursors.push({ list: from.list, ...next })
  },
)

const foreignCursor = command(
  { chosen: fc.nat(3), list: anyList },
  async (session, sender, { chosen, list }) => {
    const cursor = session.cursors.at(-1 - chosen)
    const wanted = list(session)
    if (cursor === undefined || isSame(cursor.list, wanted) || rowsOf(session.store, wanted) === undefined)
      return
    const { limit: _limit, ...source } = sourceOf(wanted)
    const query = toQuery({ ...queryOf(wanted), cursor: cursor.cursor })
    await callBoth(session, sender, { ...source, method: 'GET', path: `${source.path}${query}` }, () =>
      reject('invalid_cursor'),
    )
  },
)

/** A list as a whole. Compares the lines that the service sent. */
const exportList = command({ list: petList, limit: some.limit }, async (session, sender, { list, limit }) => {
  const wanted = list(session)
  const path = `/pet-export${toQuery({ format: 'ndjson', ...queryOf(wanted), limit })}`
  const call = { operation: 'exportPets', scope: 'pets:read', method: 'GET', path }
  const { status, text } = await callBoth(session, sender, call, () => ({ status: 200 }))
  if (status !== 200) return
  const rows = (rowsOf(session.store, wanted) ?? []).map(({ item }) => item)
  requireSame('export', text.split('\n').slice(0, -1).map(parseExactly), rows.slice(0, limit))
})

function isSame(one: List, other: List): boolean {
  const textOf = (each: List) => `${each.of}${toQuery({ ...each })}`
  return textOf(one) === textOf(other)
}

export const listCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: walkList, weight: 4 },
  { arbitrary: firstPage, weight: 4 },
  { arbitrary: nextPage, weight: 4 },
  { arbitrary: foreignCursor, weight: 1 },
  { arbitrary: exportList, weight: 2 },
]
