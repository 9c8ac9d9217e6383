// Turns data of the service into results for an assistant.
import type { HistoryEntry, Order, Pet, PetProfile, StoreEvent } from '../../../client/src/petstore.ts'
import { visible } from '../terminal/terminal.ts'

/** Longer texts are cut. In code points, after escapes. */
export const TEXT_LENGTH_MAX = 500

/** Made by the service and passed back to it, so it stays exact. */
const CURSOR = 'nextCursor'

/**
 * Limits every text, whoever typed it, and shows hidden characters as escapes such as `\u202e`. An assistant reads
 * characters that a person does not see, and could take them for instructions.
 */
export function limited(value: unknown): unknown {
  if (typeof value === 'string') return limitedText(value)
  if (Array.isArray(value)) return value.map(limited)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .map(([name, part]) => [name, name === CURSOR ? part : limited(part)]),
  )
}

function limitedText(text: string): string {
  const characters = Array.from(visible(text))
  return characters.length <= TEXT_LENGTH_MAX
    ? characters.join('')
    : `${characters.slice(0, TEXT_LENGTH_MAX - 1).join('')}…`
}

const two = (value: number) => String(value).padStart(2, '0')

/** The time in the time zone of this computer, with its offset, such as `2026-11-15T12:00:00+01:00`. */
export function localInstant(instant: string | Date): string {
  const date = new Date(instant)
  const offset = -date.getTimezoneOffset()
  const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, 19)
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60]
  return `${local}${offset < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`
}

const optionalInstant = (instant: string | undefined) =>
  instant === undefined ? undefined : localInstant(instant)

export function toPet({ id: petId, name, categoryId, status }: Pet) {
  return { petId, name, categoryId, status }
}

export function toFoundPet(pet: Pet, profile?: PetProfile) {
  return { ...toPet(pet), price: profile?.price, currency: profile?.currency, breed: profile?.breed }
}

export function toShownPet(pet: Pet, { petId: _petId, ...facts }: Partial<PetProfile> = {}) {
  return { ...toPet(pet), ...facts }
}

export function toHold({ id: orderId, expiresAt, ...order }: Order, pet?: Pet) {
  return {
    orderId,
    petId: order.petId,
    petName: pet?.name,
    status: order.status,
    note: order.note,
    price: order.price,
    netPrice: order.netPrice,
    deposit: order.deposit,
    currency: order.currency,
    placedBy: order.placedBy,
    createdAt: localInstant(order.createdAt),
    heldUntil: localInstant(expiresAt),
    closedAt: optionalInstant(order.closedAt),
    broughtBackAt: optionalInstant(order.broughtBackAt),
  }
}

export function toHistory({ at, event, actor: by, from, to, reason }: HistoryEntry) {
  return { at: localInstant(at), event, by, from, to, reason }
}

export function toChange(
  { occurredAt, type, petId, changed, order, profile, entry, actor: by }: StoreEvent,
  pet?: Pet,
) {
  const { price, currency } = order ?? profile ?? {}
  return {
    at: localInstant(occurredAt),
    type,
    petId,
    name: pet?.name,
    status: pet?.status,
    changed,
    orderId: order?.id,
    note: order?.note,
    price,
    currency,
    money: entry && { kind: entry.kind, paid: entry.paid, reason: entry.reason },
    by,
  }
}
