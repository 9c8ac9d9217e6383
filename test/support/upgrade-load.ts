// The load of the test of the upgrade: readers, writers, buyers and holders. It records every request, and what was
// acknowledged. Each request must succeed.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, type LoadOptions, runClients } from './load.ts'

const CLIENTS = 12
/** Leaves time for the migrations on a host with two cores. */
const PAUSE_MS = 10
const HOLD_MINUTES = 60

export interface SentRequest {
  what: string
  /** 0 if the connection was lost. */
  status: number
  body: unknown
  /** Unix time in ms. */
  startedAt: number
  ms: number
}

export interface UpgradeLoad {
  requests: SentRequest[]
  /** Acknowledged pets by name, with their ids. The name is also the Idempotency-Key. */
  pets: Map<string, number>
  /** Acknowledged orders by id, with their status. */
  orders: Map<number, string>
  stop: () => Promise<void>
}

const SUCCESS = new Set([200, 201])

export const isFailed = ({ status }: SentRequest) => !SUCCESS.has(status)

export const newPet = (name: string) => ({ name, categoryId: 1 })

export interface UpgradeLoadOptions extends LoadOptions {
  /** The start of all names. */
  names?: string
}

export function startUpgradeLoad({ names = 'upgraded', ...options }: UpgradeLoadOptions): UpgradeLoad {
  const stopping = new AbortController()
  const requests: SentRequest[] = []
  const pets = new Map<string, number>()
  const orders = new Map<number, string>()
  let count = 0
  let newest: number | undefined

  /** Returns the id in the response; undefined if the request failed. */
  async function send(
    { send: sendNow }: Connection,
    what: string,
    path: string,
    body?: object,
    headers = {},
  ): Promise<number | undefined> {
    const method = path.startsWith('/v1/store/orders') || body !== undefined ? 'POST' : 'GET'
    const startedAt = performance.timeOrigin + performance.now()
    const sent = await sendNow(method, path, body, headers).catch((error: unknown) => ({
      status: 0,
      body: String(error),
      ms: performance.timeOrigin + performance.now() - startedAt,
    }))
    const request = { what, status: sent.status, body: sent.body, startedAt, ms: sent.ms }
    requests.push(request)
    return isFailed(request) ? undefined : (sent.body as { id: number }).id
  }

  async function create(connection: Connection): Promise<number | undefined> {
    count += 1
    const name = `${names} ${count}`
    const headers = { 'idempotency-key': name }
    const id = await send(connection, 'create', '/v1/pets', newPet(name), headers)
    if (id === undefined) return undefined
    pets.set(name, id)
    newest = id
    return id
  }

  async function order(connection: Connection, ending: 'complete' | 'cancel' | 'none'): Promise<void> {
    const petId = await create(connection)
    if (petId === undefined) return
    const id = await send(connection, 'order', '/v1/store/orders', { petId, holdMinutes: HOLD_MINUTES })
    if (id === undefined) return
    orders.set(id, 'open')
    if (ending === 'none') return
    const ended = await send(connection, ending, `/v1/store/orders/${id}/${ending}`)
    if (ended !== undefined) orders.set(id, ending === 'complete' ? 'completed' : 'cancelled')
  }

  async function read(connection: Connection): Promise<void> {
    await send(connection, 'list', '/v1/pets?status=available&limit=20')
    await send(connection, 'search', `/v1/pets?name=${names}&limit=5`)
    await send(connection, 'search by word', `/v1/pets?word=${names}&limit=5`)
    if (newest !== undefined) await send(connection, 'read', `/v1/pets?id=${newest}`)
    await send(connection, 'inventory', '/v1/store/inventory')
  }

  const load = runClients(options, CLIENTS, stopping.signal, async (connection, index) => {
    if (index % 4 === 0) await read(connection)
    else if (index % 4 === 1) await create(connection)
    else if (index % 4 === 2) await order(connection, 'complete')
    else await order(connection, count % 2 === 0 ? 'cancel' : 'none')
    await sleep(PAUSE_MS)
  })
  return {
    requests,
    pets,
    orders,
    stop: () => {
      stopping.abort()
      return load
    },
  }
}
