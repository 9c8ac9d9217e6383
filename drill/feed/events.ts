// An event as the feed returns it, its position, and a hash of its content.
// Readers of the feed treat positions as opaque. The drill looks inside, to find gaps.

export interface FeedEvent {
  position: string
  type: string
  occurredAt: string
  petId: number
  pet?: { name: string; categoryId: number; status: string }
  changed?: string[]
  order?: { id: number; petId: number; status: string }
  requestId?: string
}

export interface Position {
  epoch: string
  number: number
}

/** Returns undefined if the position has another form than `<epoch>-<number>`. */
export function readPosition(position: string): Position | undefined {
  const [, epoch, number] = /^([0-9a-f]+)-(\d+)$/.exec(position) ?? []
  return epoch === undefined ? undefined : { epoch, number: Number(number) }
}

/** FNV-1a, 32 bits, never 0. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0 || 1
}

/** Covers everything that must never change once a reader has seen the event. */
export function contentHash(event: FeedEvent): number {
  const { position, type, occurredAt, petId, pet, changed, order, requestId } = event
  return hashOf(JSON.stringify([position, type, occurredAt, petId, pet, changed, order, requestId]))
}
