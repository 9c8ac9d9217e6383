// A service behind its own fault-injecting proxy, on its own database, so that several fixtures try faults in parallel.
import { Client } from 'pg'
import { afterAll } from 'vitest'
import { startProxy, type TcpProxy } from '../../../lab/parts/tcp-proxy.ts'
import { apiKeyVerifier } from '../../../src/access/api-keys/api-keys.ts'
import { trackUsage, type Usage } from '../../../src/access/api-keys/usage.ts'
import { SCOPES } from '../../../src/contract/scopes.ts'
import {
  CONNECT_TIMEOUT_MS,
  RETRY_FOR_MS,
  STATEMENT_TIMEOUT_MS,
} from '../../../src/db/connection/deadlines.ts'
import type { Db } from '../../../src/db/database.ts'
import { type Holds, trackHolds } from '../../../src/store/holds/sweep.ts'
import { openSettings } from '../../../src/store/settings/current-settings.ts'
import { openLog } from '../../../src/telemetry/log.ts'
import { openApiFixture, type ApiFixture } from '../../support/api-fixture.ts'
import { issueApiKey, startApp } from '../../support/app.ts'
import { openTestClient, type TestClient } from '../../support/client.ts'
import { openTestDatabase } from '../../support/database.ts'
import { keepLog } from '../../support/test-log.ts'
import { type Fault, faultyRelay } from '../../support/wire-faults.ts'
import { retryWhileLate, workInTime } from '../late.ts'
import { CATEGORY, OTHER_CATEGORY, type Stock } from './operation.ts'
import { stockUp } from './reading.ts'
import { countFault } from './tally.ts'

export const POOL_SIZE = 2
/** Longer than any cache entry of the service is valid. */
const LEAP_MS = 60_000

/** A fault, and where in an operation it happens. */
export interface PlannedFault {
  statement: string
  /** Which statement of this name, counted from 1 since the fault was planned. */
  occurrence: number
  fault: Fault
}

export interface FaultFixture {
  client: TestClient
  apiKey: string
  /** A service on the same database without the proxy, to prepare what an operation needs. */
  api: ApiFixture
  stock: Stock
  /** Queries one number from the database, bypassing the proxy. */
  query: (text: string, values: unknown[]) => Promise<number>
  db: Db
  proxy: TcpProxy
  usage: Usage
  holds: Holds
  /** Every statement since the last plan, in order. */
  seen: string[]
  /** What the service has logged since the last plan. */
  logged: () => readonly string[]
  /** Plans a fault, or none, and expires every cache of the service. */
  plan: (planned: PlannedFault | undefined) => void
  /** How often the fault has happened since it was planned. */
  injected: () => number
}

/** `role` is the role that the service connects as. */
export async function openFaultFixture(role: { name: string; password: string }): Promise<FaultFixture> {
  const api = await openApiFixture({ webhooksMax: 1_000_000 })
  await retryWhileLate(() => api.put(`/categories/${CATEGORY}`, { name: 'Dogs' }))
  await retryWhileLate(() => api.put(`/categories/${OTHER_CATEGORY}`, { name: 'Cats' }))
  const stock = await workInTime(() => stockUp(api))
  const outside = new Client(api.databaseUrl)
  await outside.connect()
  afterAll(() => outside.end())
  const databaseUrl = new URL(api.databaseUrl)
  databaseUrl.username = role.name
  databaseUrl.password = role.password

  const seen: string[] = []
  let planned: PlannedFault | undefined
  let injected = 0
  let leapt = 0
  const now = () => performance.now() + leapt

  const decide = (statement: string): Fault | undefined => {
    seen.push(statement)
    if (planned === undefined || statement !== planned.statement) return undefined
    const occurrence = seen.filter((one) => one === statement).length
    return occurrence === planned.occurrence ? planned.fault : undefined
  }
  const onInjected = (fault: Fault, statement: string): void => {
    injected += 1
    countFault(fault, statement)
  }
  const proxy = await startProxy(databaseUrl.href, (link) => faultyRelay(link, { decide, onInjected }))
  afterAll(() => proxy.close())
  const db = openTestDatabase(proxy.url, POOL_SIZE, {
    // As in production: a connection that cannot be opened leaves time for a second one.
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    // Shorter than in production, because faults drop responses; longer than RETRY_FOR_MS, as in production.
    queryTimeoutMs: RETRY_FOR_MS + 250,
    retryForMs: RETRY_FOR_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: 1_000,
  })
  const usage = trackUsage(() => new Date())
  const holds = trackHolds(db, openLog('silent'), now)
  const { log, lines, clear } = keepLog()
  const { origin } = await startApp(db, {
    log,
    usage,
    holds,
    categoryPolicy: 'strict',
    webhooksMax: 1_000_000,
    verifyApiKey: apiKeyVerifier(db, 'production', now),
    settings: openSettings(db, now),
  })
  const { text: apiKey } = await workInTime(() => issueApiKey(db, { name: 'fixture', scopes: SCOPES }))

  return {
    client: openTestClient({ origin, apiKey }),
    apiKey,
    api,
    stock,
    query: async (text, values) => {
      const { rows } = await outside.query<[string]>({ text, values, rowMode: 'array' })
      return Number(rows[0]?.[0])
    },
    db,
    proxy,
    usage,
    holds,
    seen,
    logged: lines,
    plan: (next) => {
      planned = next
      injected = 0
      seen.length = 0
      clear()
      leapt += LEAP_MS
    },
    injected: () => injected,
  }
}
