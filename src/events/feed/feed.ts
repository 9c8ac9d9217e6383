// Reads the feed: positions, which events a caller can read, and the events themselves.
import { SERVICE_NAME } from '../../contract/actor.ts'
import type { Caller } from '../../contract/caller.ts'
import { AppError } from '../../contract/errors.ts'
import type { Reader } from '../../db/database.ts'
import type { Order, OrderStatus } from '../../store/orders/schema.ts'
import type { Entry, EntryKind, EntryReason, PaymentMethod } from '../../store/ledger/schema.ts'
import { INT64_MAX } from '../../values/int64.ts'
import { parseJson } from '../../values/json.ts'
import { toAmount, toUnits, withDecimals } from '../../values/money.ts'
import type { FindDurableEvents } from './durable.ts'
import { parsePosition, type Position, writePosition } from './format.ts'
import { type EventRow, type EventsPage, findNumberBeforeStored } from './queries.ts'
import {
  type ChangedField,
  type Event,
  EVENT_TYPES,
  EVENTS_LIMIT_MAX,
  type EventType,
  LATEST,
  PET_EVENT_TYPES,
} from './schema.ts'

/** Where a reader starts: at a position, at the start of the feed, or after the newest event. */
export type Start = Position | 'start' | typeof LATEST

export function readStart(after: string | undefined, field = 'after'): Start {
  if (after === undefined) return 'start'
  if (after === LATEST) return LATEST
  const position = parsePosition(after)
  if (position === undefined) {
    const message = `${field} must be the position of an event, or "${LATEST}".`
    throw new AppError('invalid_parameter', { details: [{ field, code: 'invalid_value', message }] })
  }
  return position
}

/** The types of events that the caller can read. Without `orders:read`, these are the events of pets. */
export function readableTypes({ scopes }: Pick<Caller, 'scopes'>): readonly EventType[] {
  return scopes.includes('orders:read') ? EVENT_TYPES : PET_EVENT_TYPES
}

export interface ReadOptions {
  types: readonly EventType[]
  limit: number
  /** The page ends after the event with which it reaches this size. */
  maxBytes: number
  /** Whether the caller can read who made a change. */
  showActors: boolean
}

export interface FeedPage {
  events: Event[]
  /** The position after this page. All events of the wanted types up to it are in this page or earlier ones. */
  next: Position
}

export async function readEvents(
  find: FindDurableEvents,
  start: Start,
  options: ReadOptions,
): Promise<FeedPage> {
  const page = await find(options.types, numberOf(start), options.limit, options.maxBytes)
  requireValid(start, page)
  return toPage(page, options)
}

/** Max statements for a page of the events of one pet, each of EVENTS_LIMIT_MAX events: no index finds the events of a pet. */
const STATEMENTS_MAX = 10

/** Reads the events of one pet. The page ends early after STATEMENTS_MAX statements, and the next one continues there. */
export async function readEventsOfPet(
  find: FindDurableEvents,
  start: Start,
  petId: bigint,
  options: ReadOptions,
): Promise<FeedPage> {
  const { types, limit, maxBytes } = options
  const rows: EventRow[] = []
  let page = await find(types, numberOf(start), EVENTS_LIMIT_MAX, maxBytes)
  requireValid(start, page)
  for (let statements = 1; ; statements += 1) {
    rows.push(...page.rows.filter((row) => row.petId === petId))
    const last = page.rows.at(-1)
    if (rows.length >= limit || statements === STATEMENTS_MAX || !page.isFull || last === undefined) break
    page = await find(types, last.number, EVENTS_LIMIT_MAX, maxBytes)
    // The retention has deleted the next events, which cannot be skipped without a word.
    if (!page.isStored) throw new AppError('events_expired')
  }
  if (rows.length < limit) return { ...toPage(page, options), events: eventsOf(rows, page, options) }
  const events = rows.slice(0, limit)
  const { number } = events.at(-1) as EventRow
  return { events: eventsOf(events, page, options), next: { epoch: page.epoch, number } }
}

function eventsOf(rows: readonly EventRow[], { epoch }: EventsPage, { showActors }: ReadOptions): Event[] {
  return rows.map((row) => toEvent(row, epoch, showActors))
}

/** Reads the end of the feed. Fewer events than `count` may be stored. */
export async function readNewestEvents(
  { findEvents: find, db }: { findEvents: FindDurableEvents; db: Reader },
  count: number,
  options: ReadOptions,
): Promise<FeedPage> {
  const { types, limit, maxBytes } = options
  const { head } = await find(types, numberOf(LATEST), 1)
  const start = head > BigInt(count) ? head - BigInt(count) : 0n
  const page = await find(types, start, limit, maxBytes)
  if (page.isStored) return toPage(page, options)
  // The retention has deleted the first of them.
  return toPage(await find(types, await findNumberBeforeStored(db, start), limit, maxBytes), options)
}

function toPage({ epoch, head, isFull, rows }: EventsPage, { showActors }: ReadOptions): FeedPage {
  const last = isFull ? rows.at(-1) : undefined
  return {
    events: rows.map((row) => toEvent(row, epoch, showActors)),
    next: { epoch, number: last?.number ?? head },
  }
}

/** The number after which to read. 0 stands for the start of the epoch. */
function numberOf(start: Start): bigint {
  if (start === LATEST) return INT64_MAX
  return start === 'start' ? 0n : start.number
}

/** Rejects a position of another epoch, and one whose next events are no longer stored. */
function requireValid(start: Start, { epoch, afterNumber, startsEmpty, isStored, head }: EventsPage): void {
  if (start === LATEST) return
  const isKnown =
    start === 'start'
      ? startsEmpty
      : start.epoch === epoch && start.number >= afterNumber && start.number <= head
  if (!isKnown || !isStored) throw new AppError('events_expired')
}

export function toEvent(row: EventRow, epoch: string, showActors: boolean): Event {
  const { number, type, at, petId } = row
  return {
    position: writePosition({ epoch, number }),
    type,
    occurredAt: at,
    petId,
    pet: toPet(row),
    changed: type === 'pet.updated' ? toFields(row.changed ?? 0) : undefined,
    profile: row.profile === null ? undefined : { petId, ...row.profile },
    order: row.orderState === null ? undefined : toOrder(row.orderState, row),
    entry: row.entry === null ? undefined : toEntry(row.entry, row),
    ...(showActors &&
      row.requestId !== null && {
        actor: row.actor ?? SERVICE_NAME,
        requestId: row.requestId,
      }),
  }
}

function toPet({ petId: id, name, categoryId, status }: EventRow): Event['pet'] {
  if (name === null || categoryId === null || status === null) return undefined
  return { id, name, categoryId, status }
}

function toFields(changed: number): ChangedField[] {
  const fields: ChangedField[] = []
  if (changed & 1) fields.push('name')
  if (changed & 2) fields.push('categoryId')
  if (changed & 4) fields.push('status')
  return fields
}

/** A row of the table `orders`, as PostgreSQL's to_jsonb writes it. */
interface OrderState {
  id: number | bigint
  pet_id: number | bigint
  status: OrderStatus
  note: string | null
  currency: string | null
  created_at: string
  expires_at: string
  closed_at: string | null
  /** Only in the event of an entry. */
  balance?: {
    paid: string
    sales: string
    currency: string
    was_sold: boolean
    brought_back_at: string | null
  }
}

function toOrder(json: string, { orderPlacedBy, orderPrice }: EventRow): Order {
  const state = parseJson(json) as OrderState
  return {
    id: BigInt(state.id),
    petId: BigInt(state.pet_id),
    status: state.status,
    note: state.note ?? undefined,
    price: orderPrice ?? undefined,
    currency: state.currency ?? state.balance?.currency,
    ...(state.balance !== undefined && toBalance(state.balance)),
    placedBy: orderPlacedBy ?? '',
    createdAt: new Date(state.created_at),
    expiresAt: new Date(state.expires_at),
    closedAt: state.closed_at === null ? undefined : new Date(state.closed_at),
  }
}

function toBalance({
  paid,
  sales,
  currency,
  was_sold,
  brought_back_at,
}: NonNullable<OrderState['balance']>): Partial<Order> {
  const deposit = toUnits(paid, currency) - toUnits(sales, currency)
  return {
    netPrice: was_sold ? withDecimals(sales, currency) : undefined,
    deposit: deposit === 0n ? undefined : toAmount(deposit, currency),
    broughtBackAt: brought_back_at === null ? undefined : new Date(brought_back_at),
  }
}

/** A row of the table `entries`, as the trigger record_entries writes it. */
interface EntryState {
  id: number | bigint
  order_id: number | bigint
  category_id: number | bigint | null
  voids: number | bigint | null
  day: string
  at: string
  kind: EntryKind
  paid: string
  sales: string
  pets: number
  currency: string
  method: PaymentMethod | null
  reason: EntryReason | null
}

function toEntry(json: string, { petId, entrySeller, actor }: EventRow): Entry {
  const { id, order_id, category_id, voids, day, at, kind, pets, currency, ...state } = parseJson(
    json,
  ) as EntryState
  return {
    id: BigInt(id),
    orderId: BigInt(order_id),
    petId,
    kind,
    day,
    at: new Date(at),
    pets,
    currency,
    paid: withDecimals(state.paid, currency),
    sales: withDecimals(state.sales, currency),
    method: state.method ?? undefined,
    categoryId: category_id === null ? undefined : BigInt(category_id),
    seller: entrySeller ?? undefined,
    actor: actor ?? undefined,
    reason: state.reason ?? undefined,
    voidedEntryId: voids === null ? undefined : BigInt(voids),
  }
}
