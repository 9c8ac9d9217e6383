// A copy of the catalogue, made only of events, as a consumer of the feed keeps it. Checks that each event fits the state
// that the earlier events left, and finds where the copy and the database differ.

/** Ids arrive as numbers in JSON, as bigints or text from the database. */
export type Id = number | bigint | string

export interface MirrorEvent {
  type: string
  petId: Id
  pet?: { name: string; categoryId: Id; status: string } | undefined
  changed?: readonly string[] | undefined
  profile?: Record<string, unknown> | undefined
  order?:
    | { id: Id; petId: Id; status: string; price?: string | undefined; currency?: string | undefined }
    | undefined
}

/** The fields of a pet that its events have. */
export interface PetFields {
  name: string
  categoryId: Id
  status: string
}

export interface MirroredPet extends PetFields {
  /** The new values of each update, oldest first. */
  updates: string[]
  /** Whether the feed had its pet.created. */
  isCreated: boolean
  /** The fields of the profile after its last event, and the number of these events. */
  profile: string
  profileUpdates: number
}

export interface MirroredOrder {
  petId: Id
  status: string
  /** The amount with its currency; empty without a price. */
  price?: string
}

export interface StoredPet extends PetFields {
  id: Id
  /** Compared with the number of updates, if given. */
  version?: number
}

export interface StoredOrder extends MirroredOrder {
  id: Id
}

const FIELDS = ['name', 'categoryId', 'status'] as const

/** The same id in one form. An id that a number cannot hold exactly stays a bigint. */
function idOf(id: Id): number | bigint {
  const number = Number(id)
  return Number.isSafeInteger(number) ? number : BigInt(id)
}

export class Mirror {
  readonly #pets = new Map<Id, MirroredPet>()
  readonly #orders = new Map<Id, MirroredOrder>()
  readonly #deleted = new Set<Id>()

  get pets(): ReadonlyMap<Id, Readonly<MirroredPet>> {
    return this.#pets
  }

  /** Every order that the feed has mentioned. */
  get orders(): ReadonlyMap<Id, Readonly<MirroredOrder>> {
    return this.#orders
  }

  pet(id: Id): Readonly<MirroredPet> | undefined {
    return this.#pets.get(idOf(id))
  }

  /** Whether the feed had a pet.created of this pet, even if the pet was deleted later. */
  wasCreated(id: Id): boolean {
    return this.pet(id)?.isCreated ?? this.#deleted.has(idOf(id))
  }

  /** Applies the event. Returns what contradicts the earlier events. */
  apply(event: MirrorEvent): string | undefined {
    const fault = this.#apply(event)
    return fault === undefined ? undefined : `${event.type} of pet ${event.petId}: ${fault}`
  }

  #apply(event: MirrorEvent): string | undefined {
    if (!/^[1-9]\d*$/.test(String(event.petId))) return 'the id is malformed'
    const petId = idOf(event.petId)
    switch (event.type) {
      case 'pet.created':
      case 'pet.updated':
        return this.#put(petId, event)
      case 'pet.profile_updated':
        return this.#putProfile(petId, event)
      case 'pet.deleted':
        if (this.wasCreated(petId)) this.#deleted.add(petId)
        return this.#pets.delete(petId) ? undefined : 'the pet does not exist'
      default:
        return event.type.startsWith('order.') ? this.#putOrder(petId, event) : 'the type is unknown'
    }
  }

  #put(id: Id, { type, pet, changed = [] }: MirrorEvent): string | undefined {
    if (pet === undefined) return 'without the pet'
    const before = this.#pets.get(id)
    const isCreated = type === 'pet.created'
    const wasCreated = this.wasCreated(id)
    const after: MirroredPet = {
      name: pet.name,
      categoryId: idOf(pet.categoryId),
      status: pet.status,
      updates: before === undefined || isCreated ? [] : before.updates,
      // An update of an unknown pet must not hide that its pet.created is missing.
      isCreated: isCreated || wasCreated,
      profile: before?.profile ?? NO_PROFILE,
      profileUpdates: before?.profileUpdates ?? 0,
    }
    this.#pets.set(id, after)
    if (isCreated) return wasCreated || before !== undefined ? 'the pet was created before' : undefined
    after.updates.push(describeUpdate(changed, after))
    if (before === undefined) return 'the pet does not exist'
    // The fields that the event lists must be those that differ. A lost update leaves other differences.
    const differing = FIELDS.filter((field) => before[field] !== after[field])
    if (differing.length === 0) return 'without a difference'
    return differing.join() === changed.join() ? undefined : `changed ${changed}, but ${differing} differs`
  }

  #putProfile(petId: Id, { profile }: MirrorEvent): string | undefined {
    if (profile === undefined) return 'without the profile'
    const pet = this.#pets.get(petId)
    if (pet === undefined) return 'the pet does not exist'
    const before = pet.profile
    pet.profile = describeProfile(profile)
    pet.profileUpdates += 1
    return pet.profile === before ? 'without a difference' : undefined
  }

  #putOrder(petId: Id, { type, order }: MirrorEvent): string | undefined {
    if (order === undefined) return 'without the order'
    const id = idOf(order.id)
    const before = this.#orders.get(id)
    const { status, price, currency } = order
    this.#orders.set(id, { petId, status, price: price === undefined ? '' : `${price} ${currency}` })
    if (idOf(order.petId) !== petId) return `order ${id} is for pet ${order.petId}`
    const pet = this.#pets.get(petId)
    if (pet === undefined) return `the pet of order ${id} does not exist`
    // Neither changes the status. The entry of a sale comes with the event of its completion.
    if (type === 'order.updated' || type === 'order.entry_added') {
      return before?.status === status
        ? undefined
        : `order ${id} was ${before?.status ?? 'not placed'} before`
    }
    const expected = order.status === 'open' ? 'order.placed' : `order.${order.status}`
    if (type !== expected) return `order ${id} is ${order.status}`
    if (before?.status !== (type === 'order.placed' ? undefined : 'open')) {
      return `order ${id} was ${before?.status ?? 'not placed'} before`
    }
    // The order is placed by the transaction that makes its pet pending.
    if (type !== 'order.placed' || pet.status === 'pending') return undefined
    return `order ${id} was placed, but the pet is ${pet.status}`
  }
}

const NO_PROFILE = describeProfile({})

/** The fields of a profile that have a value, in one order. */
export function describeProfile({ petId: _petId, ...fields }: Record<string, unknown>): string {
  const given = Object.keys(fields).filter((name) => fields[name] !== null && fields[name] !== undefined)
  return JSON.stringify(given.toSorted().map((name) => [name, fields[name]]))
}

/** The new values of the fields that changed. */
export function describeUpdate(changed: readonly string[], after: Partial<PetFields>): string {
  const values = FIELDS.filter((field) => changed.includes(field)).map((field) => `${field} ${after[field]}`)
  return values.join(', ')
}

export interface Difference {
  /** The pet or order, such as "pet 7". */
  subject: string
  text: string
}

/** The rows of a table, in one or several parts. */
export type Pages<Row> = Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>

/** Where the mirror and the pets of the database differ; empty if they are equal. */
export function comparePets(mirror: Mirror, pages: Pages<StoredPet>): Promise<Difference[]> {
  return compare('pet', mirror.pets, pages, (mirrored, row) => {
    const differing = FIELDS.find((field) => String(mirrored[field]) !== String(row[field]))
    if (differing !== undefined) {
      return `${differing} ${mirrored[differing]} in the mirror, ${row[differing]} in the database`
    }
    // Each change of a pet increases its version by one and has one event.
    const { updates } = mirrored
    if (row.version === undefined || updates.length + 1 === row.version) return undefined
    return `${updates.length} pet.updated events, and version ${row.version} in the database`
  })
}

export function compareOrders(mirror: Mirror, pages: Pages<StoredOrder>): Promise<Difference[]> {
  return compare('order', mirror.orders, pages, (mirrored, { petId, status, price }) => {
    const isSamePrice = price === undefined || mirrored.price === price
    if (mirrored.petId === idOf(petId) && mirrored.status === status && isSamePrice) return undefined
    const copy = `${mirrored.status}, pet ${mirrored.petId}, price ${mirrored.price}`
    return `${copy} in the mirror; ${status}, pet ${petId}, price ${price} in the database`
  })
}

async function compare<Mirrored, Row extends { id: Id; status: string }>(
  kind: string,
  mirrored: ReadonlyMap<Id, Mirrored>,
  pages: Pages<Row>,
  differenceOf: (mirrored: Mirrored, row: Row) => string | undefined,
): Promise<Difference[]> {
  const found: Difference[] = []
  const add = (id: Id, text: string) =>
    found.push({ subject: `${kind} ${id}`, text: `${kind} ${id}: ${text}` })
  const left = new Set(mirrored.keys())
  for await (const page of pages) {
    for (const row of page) {
      const id = idOf(row.id)
      left.delete(id)
      const copy = mirrored.get(id)
      const text = copy === undefined ? `missing from the mirror (${row.status})` : differenceOf(copy, row)
      if (text !== undefined) add(id, text)
    }
  }
  for (const id of left) add(id, 'only in the mirror')
  return found
}
