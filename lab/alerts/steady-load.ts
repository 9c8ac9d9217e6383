// A light, steady load: about 20 requests per second of readers, writers, a buyer and a follower of the events.
// Each client waits for its response before it sends the next request, so a slow store is not overloaded as well.
import { repeat } from '../parts/repeat.ts'

/** Longer than the service takes for any response. */
const REQUEST_TIMEOUT_MS = 20_000
const READ_EVERY_MS = 200
const CREATE_EVERY_MS = 250
const BUY_EVERY_MS = 500
const FOLLOW_EVERY_MS = 500

export interface SteadyLoad {
  /** Requests that got a response, and those of them with a status of 500 and above. */
  counts: { responses: number; failed: number }
  stop: () => Promise<void>
}

export interface Store {
  origin: string
  apiKey: string
}

interface Event {
  position: string
}

interface Exchange {
  status: number
  body: unknown
}

/** Returns undefined if there was no response, or only a part of it. */
export async function send(
  { origin, apiKey }: Store,
  method: string,
  path: string,
  body?: object,
): Promise<Exchange | undefined> {
  try {
    const response = await fetch(`${origin}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Sends a request that must return 201, and returns the new object. */
export async function create<Created>(store: Store, path: string, body: object): Promise<Created> {
  const exchange = await send(store, 'POST', path, body)
  if (exchange?.status !== 201) throw new Error(`POST ${path} returned ${JSON.stringify(exchange)}`)
  return exchange.body as Created
}

export function startSteadyLoad(store: Store): SteadyLoad {
  const counts = { responses: 0, failed: 0 }
  let newestPet = 1
  let position = 'latest'

  async function request(method: string, path: string, body?: object): Promise<Exchange | undefined> {
    const exchange = await send(store, method, path, body)
    if (exchange !== undefined) counts.responses += 1
    if (exchange !== undefined && exchange.status >= 500) counts.failed += 1
    return exchange
  }

  async function createPet(): Promise<number | undefined> {
    const exchange = await request('POST', '/pets', { name: 'Biscuit', categoryId: 1 })
    return exchange?.status === 201 ? (exchange.body as { id: number }).id : undefined
  }

  async function buy(): Promise<void> {
    const petId = await createPet()
    if (petId === undefined) return
    const placed = await request('POST', '/store/orders', { petId })
    if (placed?.status !== 201) return
    const { id } = placed.body as { id: number }
    await request('POST', `/store/orders/${id}/${id % 2 === 0 ? 'complete' : 'cancel'}`)
  }

  async function follow(): Promise<void> {
    const exchange = await request('GET', `/events?after=${position}`)
    if (exchange?.status === 200) position = (exchange.body as Event[]).at(-1)?.position ?? position
  }

  const stops = [
    repeat(READ_EVERY_MS, () => request('GET', '/pets?limit=20')),
    repeat(READ_EVERY_MS, () => request('GET', `/pets?id=${newestPet}`)),
    repeat(READ_EVERY_MS, () => request('GET', '/store/inventory')),
    repeat(CREATE_EVERY_MS, async () => {
      newestPet = (await createPet()) ?? newestPet
    }),
    repeat(BUY_EVERY_MS, buy),
    repeat(FOLLOW_EVERY_MS, follow),
  ]
  return {
    counts,
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()))
    },
  }
}
