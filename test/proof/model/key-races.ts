// Many clients that send the same create with the same Idempotency-Key at the same time.
import { type Connection, openConnection, retryWhileBusy } from '../../support/load.ts'
import { countLate, isUnknown } from '../late.ts'

export interface KeyRace {
  key: string
  /** The id in each successful response. */
  ids: number[]
  /** Successful responses without Idempotency-Replayed. */
  firsts: number
  /** Responses that said that the outcome is unknown, because the host is busy. One of them may be the first. */
  unknown: number
  /** Clients that were rejected because they sent other values with the same key. */
  rejected: number
  /** Whether the list of the other instance had the pet at once. */
  isListed: boolean
  unexpected: string[]
}

const RACES_AT_ONCE = 4
const NEWEST = 100

export async function raceForKeys(
  origins: readonly string[],
  apiKey: string,
  keys: number,
  racers: number,
): Promise<KeyRace[]> {
  const races: KeyRace[] = []
  let next = 0

  async function race(connections: readonly Connection[]): Promise<void> {
    next += 1
    const key = `key ${next}`
    const result: KeyRace = {
      key,
      ids: [],
      firsts: 0,
      unknown: 0,
      rejected: 0,
      isListed: false,
      unexpected: [],
    }
    races.push(result)
    // In every fifth race the last client sends other values; the first request decides which values are correct.
    const odd = next % 5 === 0 ? racers - 1 : -1
    await Promise.all(
      connections.map((connection, index) => retryUntilKnown(connection, result, index === odd ? 2 : 1)),
    )
    const other = connections.at(-1) as Connection
    const { body } = await retryWhileBusy(() => other.send('GET', `/v1/pets?limit=${NEWEST}`))
    result.isListed = (body as { id: number }[]).some(({ id }) => id === result.ids[0])
  }

  async function retryUntilKnown({ send }: Connection, result: KeyRace, categoryId: number): Promise<void> {
    for (;;) {
      const headers = { 'idempotency-key': result.key }
      const { status, body, isReplayed } = await send(
        'POST',
        '/v1/pets',
        { name: result.key, categoryId },
        headers,
      )
      const { id, code } = body as { id: number; code?: string }
      if (status === 201) {
        result.ids.push(id)
        result.firsts += isReplayed ? 0 : 1
        return
      }
      if (code === 'idempotency_key_reused') {
        result.rejected += 1
        return
      }
      if (status === 503) countLate()
      if (isUnknown({ status, body })) result.unknown += 1
      // The first request is still in flight, or the service is busy: retry, as documented.
      if (code !== 'idempotency_key_in_use' && status !== 503) {
        result.unexpected.push(`${status} ${code}`)
        return
      }
    }
  }

  await Promise.all(
    Array.from({ length: RACES_AT_ONCE }, async () => {
      const connections = Array.from({ length: racers }, (_, index) =>
        openConnection({ origin: origins[index % origins.length] ?? '', apiKey }),
      )
      while (next < keys) await race(connections)
      for (const each of connections) each.close()
    }),
  )
  return races
}
