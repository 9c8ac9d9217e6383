// Clients that write and read, and check that every read sees all writes acknowledged before it began.
import { type Connection, openConnection, retryWhileBusy } from './load.ts'

export interface Watched {
  operations: number
  /** A description of each stale read. */
  stale: string[]
}

const LIMIT_MAX = 100
/** Requests with different parameters are different pages, which the service batches. */
const LIMITS = 4
const FILTERS = ['', '&status=available']

/** All clients run in this process, so its clock defines "before". */
export async function watchReads(
  origins: readonly string[],
  apiKey: string,
  clients: number,
  operations: number,
): Promise<Watched> {
  /** The newest acknowledged version of each pet. */
  const acknowledged = new Map<number, number>()
  const seen: Watched = { operations: 0, stale: [] }

  async function create({ send }: Connection): Promise<void> {
    const { status, body } = await retryWhileBusy(() =>
      send('POST', '/v1/pets', { name: 'Pet', categoryId: 1 }),
    )
    if (status === 201) acknowledged.set((body as { id: number }).id, 1)
  }

  async function change({ send }: Connection): Promise<void> {
    const id = randomKey(acknowledged)
    const { status, etag } = await send('PATCH', `/v1/pets/${id}`, { name: `Pet ${Math.random()}` })
    if (status === 200) acknowledged.set(id, Math.max(acknowledged.get(id) ?? 0, etag))
  }

  async function read({ send }: Connection): Promise<void> {
    const id = randomKey(acknowledged)
    const expected = acknowledged.get(id) ?? 0
    const { status, etag } = await send('GET', `/v1/pets/${id}`)
    if (status === 404) seen.stale.push(`pet ${id} was acknowledged and not found`)
    if (status === 200 && etag < expected)
      seen.stale.push(`pet ${id} was at version ${expected} and read at ${etag}`)
  }

  async function list({ send }: Connection): Promise<void> {
    const newest = newestOf(acknowledged, 20)
    const limit = LIMIT_MAX - Math.floor(Math.random() * LIMITS)
    const filter = FILTERS[Math.floor(Math.random() * FILTERS.length)]
    const { status, body } = await send('GET', `/v1/pets?limit=${limit}${filter}`)
    if (status !== 200) return
    const ids = new Set((body as { id: number }[]).map(({ id }) => id))
    const oldest = Math.min(...ids)
    const missed = newest.filter((id) => !ids.has(id) && (ids.size < limit || id > oldest))
    if (missed.length > 0) seen.stale.push(`a page misses ${missed.join(', ')}`)
  }

  await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const connection = openConnection({ origin: origins[index % origins.length] ?? '', apiKey })
      await create(connection)
      while (seen.operations < operations) {
        seen.operations += 1
        const pick = Math.random()
        if (pick < 0.2) await create(connection)
        else if (pick < 0.35) await change(connection)
        else if (pick < 0.65) await read(connection)
        else await list(connection)
      }
      connection.close()
    }),
  )
  return seen
}

/** One of the newest keys, because other clients write and read these, too. */
function randomKey(map: Map<number, unknown>): number {
  const newest = newestOf(map, 8)
  return newest[Math.floor(Math.random() * newest.length)] ?? 0
}

/** The newest keys. Removes older keys, because no client requests them any more. */
function newestOf(map: Map<number, unknown>, count: number): number[] {
  const keys = [...map.keys()]
  for (const old of keys.slice(0, -200)) map.delete(old)
  return keys.slice(-count)
}
