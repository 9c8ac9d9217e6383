// Every change that the clients sent, with the times of its first request and of its acknowledgement. Says what a database
// that was restored to a moment must contain.
import type { Reply, Request } from '../load/client.ts'
import type { OperationName } from '../load/documented.ts'
import type { Observe } from '../load/load.ts'
import { idOf } from '../load/writers.ts'

/** Times of performance.now(). */
export interface Change {
  sentAt: number
  /** Undefined until the change is acknowledged. */
  acknowledgedAt: number | undefined
  /** Whether the service reported that it changed nothing, and the client did not retry. */
  rejected: boolean
}

export interface PetChange extends Change {
  id: number | undefined
}

export interface OrderChange extends Change {
  id: number | undefined
  petId: number
}

export interface OrderEnd extends Change {
  status: 'completed' | 'cancelled'
}

export interface StatusChange extends Change {
  version: number
  status: string
}

export interface ImportChange extends Change {
  rows: number
}

/** A moment of the database clock. The drill read the clock between these two times. */
export interface Moment {
  /** As PostgreSQL prints it, for `--target`. */
  text: string
  from: number
  until: number
}

export class Journal {
  /** By name. */
  readonly pets = new Map<string, PetChange>()
  /** By note. */
  readonly orders = new Map<string, OrderChange>()
  /** By id of the order. */
  readonly orderEnds = new Map<number, OrderEnd>()
  /** The changes of the status of a pet, by its id, in the order in which they were sent. */
  readonly statuses = new Map<number, StatusChange[]>()
  /** By name of the file. */
  readonly imports = new Map<string, ImportChange>()

  readonly #observers: Partial<Record<OperationName, (request: Request) => (reply: Reply) => void>> = {
    createPet: ({ body, headers }) => {
      const pet = firstOf(this.pets, String(body?.['name']), () => ({ ...begun(), id: undefined }))
      return (reply) => {
        acknowledge(pet, reply.outcome === 'done')
        if (reply.outcome === 'done') pet.id = idOf(reply)
        pet.rejected = reply.outcome === 'notDone' && headers?.['idempotency-key'] === undefined
      }
    },
    placeOrder: ({ body }) => {
      const petId = Number(body?.['petId'])
      const order = firstOf(this.orders, String(body?.['note']), () => ({ ...begun(), id: undefined, petId }))
      return (reply) => {
        acknowledge(order, reply.outcome === 'done')
        if (reply.outcome === 'done') order.id = idOf(reply)
        // The client retries after 503 only.
        order.rejected = reply.outcome === 'notDone' && reply.status !== 503
      }
    },
    completeOrder: ({ path }) => this.#endOrder(idIn(path), 'completed'),
    cancelOrder: ({ path }) => this.#endOrder(idIn(path), 'cancelled'),
    updatePet: ({ path, body, headers }) => {
      const version = Number(headers?.['if-match']?.replaceAll('"', '')) + 1
      return acknowledging(this.#statusChange(idIn(path), version, String(body?.['status'])))
    },
  }

  /** Records a request before it is sent. The result records the reply. */
  readonly observe: Observe = (operation, request) => this.#observers[operation]?.(request) ?? ignore

  /** Records an import before it starts. The result records whether it succeeded. */
  startImport(name: string, rows: number): (isDone: boolean) => void {
    const file = firstOf(this.imports, name, () => ({ ...begun(), rows }))
    return (isDone) => acknowledge(file, isDone)
  }

  #endOrder(orderId: number, status: OrderEnd['status']): (reply: Reply) => void {
    return acknowledging(firstOf(this.orderEnds, orderId, () => ({ ...begun(), status })))
  }

  #statusChange(petId: number, version: number, status: string): StatusChange {
    const changes = firstOf(this.statuses, petId, () => [])
    const earlier = changes.find((change) => change.version === version)
    if (earlier !== undefined) return earlier
    const change = { ...begun(), version, status }
    changes.push(change)
    return change
  }
}

/** Whether the change must be, can be, or must not be in a database restored to this moment. */
export function expectationOf(
  { sentAt, acknowledgedAt, rejected }: Change,
  { from, until }: Moment,
): 'present' | 'possible' | 'absent' {
  if (acknowledgedAt !== undefined && acknowledgedAt < from) return 'present'
  return rejected || sentAt > until ? 'absent' : 'possible'
}

function ignore(): void {}

function begun(): Change {
  return { sentAt: performance.now(), acknowledgedAt: undefined, rejected: false }
}

function acknowledging(change: Change): (reply: Reply) => void {
  return (reply) => acknowledge(change, reply.outcome === 'done')
}

function acknowledge(change: Change, isDone: boolean): void {
  if (isDone) change.acknowledgedAt ??= performance.now()
}

function firstOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}

function idIn(path: string): number {
  return Number(/\/(\d+)/.exec(path)?.[1])
}
