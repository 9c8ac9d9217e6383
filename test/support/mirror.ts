// A copy of the catalogue that follows the event feed, as a consumer keeps it. Checks that each event fits the state
// that the earlier events left. Knows neither SQL nor HTTP.

/** An event, from the database or from a response: ids are bigints or numbers. */
export interface MirrorEvent {
  type: string
  petId: bigint | number
  pet?: { name: string; categoryId: bigint | number; status: string } | undefined
  changed?: readonly string[] | undefined
  order?: { id: bigint | number; petId: bigint | number; status: string } | undefined
}

/** A pet, with its category as text. */
export interface MirroredPet {
  name: string
  categoryId: string
  status: string
}

export interface Mirror {
  /** The pets by id. */
  pets: ReadonlyMap<string, MirroredPet>
  /** The new values of each update since the creation of the pet, oldest first. Lacks pets from an export. */
  updates: ReadonlyMap<string, readonly string[]>
  /** The status of each order that the feed has mentioned, by id. */
  orders: ReadonlyMap<string, string>
  apply: (event: MirrorEvent) => void
  /** Events that do not fit the state before them. */
  faults: readonly string[]
}

const FIELDS = ['name', 'categoryId', 'status'] as const

/** Starts with the pets of an export, or with an empty catalogue. */
export function openMirror(exported: Iterable<readonly [string, MirroredPet]> = []): Mirror {
  const pets = new Map(exported)
  const updates = new Map<string, string[]>()
  const orders = new Map<string, string>()
  const deleted = new Set<string>()
  const faults: string[] = []

  function applyToPet(id: string, { type, pet, changed = [] }: MirrorEvent): string | undefined {
    const before = pets.get(id)
    if (deleted.has(id)) return 'after the pet was deleted'
    if (type === 'pet.created' && before !== undefined) return 'of a pet that exists'
    if (type !== 'pet.created' && before === undefined) return 'of a pet that does not exist'
    if (type === 'pet.deleted') {
      pets.delete(id)
      updates.delete(id)
      deleted.add(id)
      return undefined
    }
    if (pet === undefined) return 'without the pet'
    const after = { name: pet.name, categoryId: String(pet.categoryId), status: pet.status }
    pets.set(id, after)
    if (before === undefined) {
      updates.set(id, [])
      return undefined
    }
    updates.get(id)?.push(describeUpdate(changed, after))
    const differing = FIELDS.filter((field) => before[field] !== after[field])
    if (differing.length === 0) return 'without a difference'
    return differing.join() === changed.join() ? undefined : `changed ${changed}, but ${differing} differs`
  }

  function applyToOrder(petId: string, { type, order }: MirrorEvent): string | undefined {
    if (order === undefined) return 'without the order'
    const id = String(order.id)
    const before = orders.get(id)
    orders.set(id, order.status)
    if (String(order.petId) !== petId) return `of order ${id}, which holds pet ${order.petId}`
    const expected = order.status === 'open' ? 'order.placed' : `order.${order.status}`
    if (type !== expected) return `of order ${id}, which is ${order.status}`
    if (type !== 'order.placed') return before === 'open' ? undefined : `of order ${id}, which was ${before}`
    if (before !== undefined) return `of order ${id}, which was ${before}`
    // The order is placed by the transaction that makes its pet pending.
    const status = pets.get(petId)?.status
    return status === 'pending' ? undefined : `of order ${id}, but the pet is ${status}`
  }

  return {
    pets,
    updates,
    orders,
    apply: (event) => {
      const petId = String(event.petId)
      const fault = event.type.startsWith('pet.') ? applyToPet(petId, event) : applyToOrder(petId, event)
      if (fault !== undefined) faults.push(`${event.type} of pet ${petId}: ${fault}`)
    },
    faults,
  }
}

/** The new values, in the form in which the audit reads them from the history. */
export function describeUpdate(changed: readonly string[], after: Partial<MirroredPet>): string {
  const values = FIELDS.filter((field) => changed.includes(field)).map((field) => `${field} ${after[field]}`)
  return values.join(', ')
}

/** Where the mirror and the real pets differ; empty if they are equal. */
export function compareMirror(
  { pets }: Pick<Mirror, 'pets'>,
  real: Iterable<readonly [string, MirroredPet]>,
): string[] {
  const left = new Map(pets)
  const faults: string[] = []
  for (const [id, pet] of real) {
    const mirrored = left.get(id)
    left.delete(id)
    if (mirrored === undefined) faults.push(`pet ${id} is missing from the mirror`)
    else if (FIELDS.some((field) => mirrored[field] !== pet[field]))
      faults.push(`pet ${id} is ${JSON.stringify(pet)}, in the mirror ${JSON.stringify(mirrored)}`)
  }
  return [...faults, ...[...left.keys()].map((id) => `pet ${id} exists only in the mirror`)]
}
