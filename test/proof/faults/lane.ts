// A service of its own behind a proxy of its own, on a database of its own: many faults can be tried at once, and
// each of them meets one request.
import { Client } from 'pg'
import { afterAll } from 'vitest'
import { apiKeyVerifier } from '../../../src/api-keys/api-keys.ts'
import { SCOPES } from '../../../src/scopes.ts'
import { trackUsage, type Usage } from '../../../src/api-keys/usage.ts'
import type { Db } from '../../../src/db/database.ts'
import { openLog } from '../../../src/telemetry/log.ts'
import { type Holds, trackHolds } from '../../../src/orders/holds.ts'
import { openApiFixture, type ApiFixture } from '../../api/fixture.ts'
import { issueApiKey, startApp } from '../../support/app.ts'
import { openTestClient, type TestClient } from '../../support/client.ts'
import { openTestDatabase } from '../../support/database.ts'
import { type Proxy, startProxy } from '../../support/proxy.ts'
import { CATEGORY, OTHER_CATEGORY, type Stock } from './operation.ts'
import { stockUp } from './reading.ts'
import { countFault } from './tally.ts'
import { type Fault, faultyRelay } from '../../support/wire-faults.ts'

export const POOL_SIZE = 2
/** Longer than any cache of the service believes what it knows. */
const LEAP_MS = 60_000

/** A fault, and the place in an operation where it shall happen. */
export interface Aim {
  statement: string
  /** Of those with this name since the aim was taken: 1 is the first. */
  occurrence: number
  fault: Fault
}

export interface Lane {
  client: TestClient
  apiKey: string
  /** A service on the same database without a proxy, to make what an operation needs. */
  api: ApiFixture
  stock: Stock
  /** One number from the database, past the proxy. */
  look: (text: string, values: unknown[]) => Promise<number>
  db: Db
  proxy: Proxy
  usage: Usage
  holds: Holds
  /** Every statement since the last aim, in sequence. */
  seen: string[]
  /** Takes aim, or none; nothing that was cached before is known any more. */
  aim: (aim: Aim | undefined) => void
  /** How often the fault has happened since. */
  injected: () => number
}

/** The role is the one that the service connects as. */
export async function openLane(role: { name: string; password: string }): Promise<Lane> {
  const api = await openApiFixture()
  await api.put(`/categories/${CATEGORY}`, { name: 'Dogs' })
  await api.put(`/categories/${OTHER_CATEGORY}`, { name: 'Cats' })
  const stock = await stockUp(api)
  const outside = new Client(api.databaseUrl)
  await outside.connect()
  afterAll(() => outside.end())
  const databaseUrl = new URL(api.databaseUrl)
  databaseUrl.username = role.name
  databaseUrl.password = role.password

  const seen: string[] = []
  let aim: Aim | undefined
  let injected = 0
  let leapt = 0
  const now = () => performance.now() + leapt

  const decide = (statement: string): Fault | undefined => {
    seen.push(statement)
    if (aim === undefined || statement !== aim.statement) return undefined
    const occurrence = seen.filter((one) => one === statement).length
    return occurrence === aim.occurrence ? aim.fault : undefined
  }
  const onInjected = (fault: Fault, statement: string): void => {
    injected += 1
    countFault(fault, statement)
  }
  const proxy = await startProxy(databaseUrl.href, (link) => faultyRelay(link, { decide, onInjected }))
  const db = openTestDatabase(proxy.url, POOL_SIZE)
  const usage = trackUsage(() => new Date())
  const holds = trackHolds(db, openLog('silent'), now)
  const { origin } = await startApp(db, {
    usage,
    holds,
    categoryPolicy: 'strict',
    verifyApiKey: apiKeyVerifier(db, 'production', now),
  })
  const { text: apiKey } = await issueApiKey(db, { name: 'lane', scopes: SCOPES })

  return {
    client: openTestClient({ origin, apiKey }),
    apiKey,
    api,
    stock,
    look: async (text, values) => {
      const { rows } = await outside.query<[string]>({ text, values, rowMode: 'array' })
      return Number(rows[0]?.[0])
    },
    db,
    proxy,
    usage,
    holds,
    seen,
    aim: (next) => {
      aim = next
      injected = 0
      seen.length = 0
      leapt += LEAP_MS
    },
    injected: () => injected,
  }
}
