// A primary that a failover has replaced is never trusted again, in whichever order its reports arrive.
import type { PoolClient } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openPool } from '../../src/db/connection/pool.ts'
import { NoResponse } from '../../src/db/connection/timeout.ts'
import { BARRIER, INCARNATION } from '../../src/db/failover/incarnation.ts'
import { type ServerTrust, trackServers } from '../../src/db/failover/server-trust.ts'
import { trackUnreplicatedCommits } from '../../src/db/failover/unreplicated.ts'
import { createTestDatabase } from '../support/database.ts'

const databaseUrl = await createTestDatabase()
const TIMEOUT_MS = 60_000

/** A connection to the server, and the incarnations that the same and another cluster report after failovers. */
async function openServer() {
  // Its connections may still be closing when the database is dropped, which ends them with an error.
  const pool = openPool({ databaseUrl, applicationName: 'petstore-test', size: 1, onError: () => {} })
  const client = await pool.connect()
  onTestFinished(async () => {
    client.release()
    await pool.end()
  })
  const { rows } = await client.query<{ incarnation: string }>(`select ${INCARNATION} as incarnation`)
  const [{ incarnation: current } = { incarnation: '' }] = rows
  const [system, , ...rest] = current.split(' ')
  const promoted = [system, 'FFFFFFFF', ...rest].join(' ')
  const elsewhere = ['1', '00000001', ...rest].join(' ')
  const servers = trackServers({
    timeoutMs: TIMEOUT_MS,
    unreplicated: trackUnreplicatedCommits(),
    requireSession: () => Promise.reject(new Error('the connection is direct')),
  })
  return { servers, client, current, promoted, elsewhere }
}

async function use(servers: ServerTrust, client: Parameters<ServerTrust['check']>[0]): Promise<void> {
  await servers.check(client, () => {})
}

const REPLACED = { message: 'another server has become the primary' }

test('a server is trusted while no other one of its cluster has a newer timeline', async () => {
  const { servers, client, current, elsewhere } = await openServer()
  await use(servers, client)
  servers.distrustReplacedBy(current)
  servers.distrustReplacedBy(elsewhere)
  await use(servers, client)
  expect(servers.check(client, () => {})).toBeUndefined()
})

test('a late report of a replaced primary does not make it the newest again', async () => {
  const { servers, client, current, promoted } = await openServer()
  await use(servers, client)
  servers.distrustReplacedBy(promoted)
  await expect(use(servers, client)).rejects.toMatchObject(REPLACED)
  servers.distrustReplacedBy(current)
  await expect(use(servers, client)).rejects.toMatchObject(REPLACED)
})

test('a replaced primary stays replaced after a report of another cluster', async () => {
  const { servers, client, current, promoted, elsewhere } = await openServer()
  servers.distrustReplacedBy(promoted)
  servers.distrustReplacedBy(elsewhere)
  servers.distrustReplacedBy(current)
  await expect(use(servers, client)).rejects.toMatchObject(REPLACED)
})

/** Delays the response to the next barrier until `resume`, as a server that froze when its standby had confirmed it. */
function freezeAfterBarrier(client: PoolClient) {
  const [sent, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const query = client.query.bind(client) as (text: string) => Promise<unknown>
  async function respond(text: string): Promise<unknown> {
    const response = await query(text)
    if (!text.includes(BARRIER)) return response
    Reflect.deleteProperty(client, 'query')
    sent.resolve()
    await resumed.promise
    return response
  }
  Object.assign(client, { query: respond })
  return { sent: sent.promise, resume: resumed.resolve }
}

/** Whether the server was trusted already. If not, it is after this, with another barrier. */
async function isTrusted(servers: ServerTrust, client: PoolClient): Promise<boolean> {
  const check = servers.check(client, () => {})
  await check
  return check === undefined
}

test('a barrier that was sent before a timeout does not make a server trusted again', async () => {
  const { servers, client } = await openServer()
  const { sent, resume } = freezeAfterBarrier(client)
  const using = use(servers, client)
  await sent
  // Another connection got no response in time.
  servers.distrustAll()
  resume()
  await expect(using).rejects.toMatchObject({ reason: 'unconfirmed' })
  // A former primary would not commit another barrier.
  expect(await isTrusted(servers, client)).toBe(false)
  expect(await isTrusted(servers, client)).toBe(true)
})

test('a barrier whose response is late does not make a server trusted', async () => {
  const { servers, client } = await openServer()
  const { sent, resume } = freezeAfterBarrier(client)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const using = use(servers, client).catch((error: unknown) => error)
  await sent
  vi.advanceTimersByTime(TIMEOUT_MS)
  const failure = (await using) as NoResponse
  expect(failure).toBeInstanceOf(NoResponse)
  resume()
  await expect(failure.response).rejects.toMatchObject({ reason: 'unconfirmed' })
  expect(await isTrusted(servers, client)).toBe(false)
})
