// A primary that a failover has replaced is never trusted again, in whichever order its reports arrive.
import { onTestFinished, expect, test } from 'vitest'
import { openPool } from '../../src/db/connection/pool.ts'
import { INCARNATION } from '../../src/db/failover/incarnation.ts'
import { type ServerTrust, trackServers } from '../../src/db/failover/server-trust.ts'
import { trackUnreplicatedCommits } from '../../src/db/failover/unreplicated.ts'
import { createTestDatabase } from '../support/database.ts'

const databaseUrl = await createTestDatabase()

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
    timeoutMs: 60_000,
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
