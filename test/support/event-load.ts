// Writers that create, change, sell and delete pets through faults, and remember the outcome of each request.
import { setTimeout as sleep } from 'node:timers/promises'
import { openGate } from '../../lab/parts/gate.ts'
import { type Connection, type Exchange, openConnection } from './load.ts'

/** What the response says about a change: made, not made, or unknown. */
export type Outcome = 'done' | 'rejected' | 'unknown'

export interface EventLoad {
  /** The outcome of each request, by its id, and the events that it has if it was done. */
  requests: ReadonlyMap<string, { outcome: Outcome; events: string }>
  /** Responses that no fault explains. */
  unexpected: readonly string[]
  /** Waits until no request is in flight, and keeps the writers from sending more. */
  pause: () => Promise<void>
  resume: () => void
  stop: () => Promise<void>
}

export interface EventLoadOptions {
  origin: (writer: number) => string
  apiKey: string
  writers: number
  /** How many requests each writer sends at once. */
  lanes: number
}

const AFTER_FAULT_MS = 50
const RECENT_MAX = 2_000
const PAUSED_WITHIN_MS = 600_000

export function startEventLoad({ origin, apiKey, writers, lanes }: EventLoadOptions): EventLoad {
  const requests = new Map<string, { outcome: Outcome; events: string }>()
  const unexpected: string[] = []
  const recent: number[] = []
  const stopping = new AbortController()
  const gate = openGate()

  async function send(
    connection: Connection,
    events: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<Exchange> {
    const requestId = `load-${requests.size}`
    const request = { outcome: 'unknown' as Outcome, events }
    requests.set(requestId, request)
    const headers = { 'x-request-id': requestId }
    const exchange = await connection.send(method, path, body, headers).catch((error: { code?: string }) => {
      // No process accepted the connection, so the request was not sent.
      if (error.code === 'ECONNREFUSED') request.outcome = 'rejected'
      throw error
    })
    const { code } = (exchange.body ?? {}) as { code?: string }
    if (code !== 'outcome_unknown') request.outcome = exchange.status < 300 ? 'done' : 'rejected'
    const isExplained = [200, 201, 204, 404, 409, 503].includes(exchange.status)
    if (!isExplained) unexpected.push(`${method} ${path}: ${exchange.status} ${code}`)
    if (exchange.status === 503) await sleep(AFTER_FAULT_MS)
    return exchange
  }

  async function act(connection: Connection): Promise<void> {
    const pick = Math.random()
    const petId = recent[Math.floor(Math.random() * recent.length)]
    const call = send.bind(undefined, connection)
    if (pick < 0.55 || petId === undefined) {
      const pet = { name: `Pet ${requests.size}`, categoryId: 1 + (requests.size % 9) }
      const { status, body } = await call('pet.created', 'POST', '/v1/pets', pet)
      if (status !== 201) return
      if (recent.length < RECENT_MAX) recent.push((body as { id: number }).id)
      else recent[Math.floor(Math.random() * RECENT_MAX)] = (body as { id: number }).id
    } else if (pick < 0.75) {
      await call('pet.updated', 'PATCH', `/v1/pets/${petId}`, { name: `Renamed ${requests.size}` })
    } else if (pick < 0.82) {
      await call('pet.deleted', 'DELETE', `/v1/pets/${petId}`)
    } else {
      const placed = await call('pet.updated, order.placed', 'POST', '/v1/store/orders', { petId })
      if (placed.status !== 201) return
      const [verb, type] =
        pick < 0.92
          ? ['complete', 'order.completed, order.entry_added']
          : (['cancel', 'order.cancelled'] as const)
      const { id } = placed.body as { id: number }
      await call(`${type}, pet.updated`, 'POST', `/v1/store/orders/${id}/${verb}`)
    }
  }

  async function runLane(writer: number): Promise<void> {
    let connection = openConnection({ origin: origin(writer), apiKey })
    while (!stopping.signal.aborted) {
      try {
        await gate.pass(async () => stopping.signal.aborted || act(connection))
      } catch {
        connection.close()
        await sleep(AFTER_FAULT_MS)
        connection = openConnection({ origin: origin(writer), apiKey })
      }
    }
    connection.close()
  }

  const running = Promise.all(Array.from({ length: writers * lanes }, (_, lane) => runLane(lane % writers)))
  return {
    requests,
    unexpected,
    pause: async () => {
      if (!(await gate.pause(PAUSED_WITHIN_MS))) throw new Error('requests of the load do not end')
    },
    resume: gate.resume,
    stop: async () => {
      stopping.abort()
      gate.resume()
      await running
    },
  }
}
