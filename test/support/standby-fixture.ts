// An application that reads from the standbys of a test cluster, and which server has served each read.
import { afterAll, expect, onTestFinished } from 'vitest'
import { hostOf } from '../../src/config/database-url.ts'
import type { Db } from '../../src/db/database.ts'
import { retryNotFound } from '../../src/db/failover/retry-not-found.ts'
import {
  openStandbyReads,
  type StandbyLimits,
  type StandbyReads,
} from '../../src/db/failover/standby-reads.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { readingFrom } from '../../src/server/store.ts'
import { openPetBatches } from '../../src/store/pets/batches.ts'
import { type ApiFixture, openApiFixtureOn } from './api-fixture.ts'
import type { TestResponse } from './client.ts'
import { sql, TEST_TIMEOUTS, type TestTimeouts, withServerTimeouts } from './database.ts'
import { record } from './recording.ts'
import type { StandbyCluster, StandbyNode } from './standby-cluster.ts'
import { until } from './until.ts'

/**
 * So long that no limit ends because the host is busy. A test of a limit chooses a short one. The fence ends before the
 * request: a read of the primary beside a commit that no standby confirms ends with 200.
 */
const PATIENT: StandbyLimits = { connectMs: 20_000, replayMs: 60_000, fenceMs: 20_000, resultMs: 120_000 }

export interface StandbyFixtureOptions {
  /** Default: the URL of the primary. */
  databaseUrl?: string
  /** Default: all nodes. */
  nodesUrl?: string
  limits?: Partial<StandbyLimits>
  timeouts?: TestTimeouts
  /** Called after each read of a standby, before its result is checked. */
  onStandbyQuery?: (statement: string) => void
}

export interface StandbyFixture {
  api: ApiFixture
  db: Db
  reads: StandbyReads
  /** What the observer was told so far, in this order: `read 127.0.0.1:5432`, `read primary`, `fallback late`, `unfenced`. */
  told: string[]
  /** The hosts that were left out so far, the latest one last. */
  leftOut: string[]
  /** The statements on the primary so far. */
  statements: string[]
  /** The number of statements with this name on the primary so far. */
  count: (statement: string) => number
  /** Sends the GET until this server has served it, and expects 200 each time. */
  getFrom: (target: StandbyNode | 'primary', path: string) => Promise<TestResponse>
  /** Reads from each of these standbys once, so that the next read finds an open connection. */
  warmUp: (standbys: readonly StandbyNode[]) => Promise<void>
  /** From now on, holds back the positions that the primary returns, until `release` is called. */
  holdPositions: () => HeldPositions
}

export interface HeldPositions {
  /** The number of positions held back. */
  count: () => number
  release: () => void
}

/** Opens what openServices() of a process opens, with other limits. */
export async function openStandbyFixture(
  cluster: StandbyCluster,
  options: StandbyFixtureOptions = {},
): Promise<StandbyFixture> {
  const { databaseUrl = cluster.primary.url, nodesUrl = cluster.nodesUrl, timeouts = {} } = options
  const told: string[] = []
  const leftOut: string[] = []
  const statements: string[] = []
  const tell = (text: string) => {
    told.push(text)
    record(text)
  }
  const primary = openDatabase({
    ...TEST_TIMEOUTS,
    ...timeouts,
    databaseUrl: withServerTimeouts(databaseUrl, timeouts),
    applicationName: 'petstore-test',
    size: 10,
    onError: () => {},
    observer: {
      onQuery: (statement) => statements.push(statement),
      onWait: () => {},
      onCertificate: () => {},
      onHostFailure: () => {},
    },
    recordsTerm: true,
  })
  const { db, holdPositions } = holdingPositions(primary)
  const reads = openStandbyReads({
    db,
    databaseUrl: nodesUrl,
    applicationName: 'petstore-test',
    size: 10,
    onError: () => {},
    onHostFailure: (host, error) => {
      leftOut.push(host)
      record(`left out ${host}: ${error.message}`)
    },
    waitUntilFresh: () => undefined,
    standbyObserver: {
      onRead: (target) => tell(`read ${target}`),
      onReplayed: () => {},
      onFallback: (reason) => tell(`fallback ${reason}`),
      onUnfenced: () => tell('unfenced'),
    },
    queryObserver: {
      onQuery: (statement) => options.onStandbyQuery?.(statement),
      onWait: () => {},
      onCertificate: () => {},
      onHostFailure: () => {},
    },
    tracing: undefined,
    limits: { ...PATIENT, ...options.limits },
  })
  const close = () => Promise.all([reads.close(), db.close()])
  // PostgreSQL may be stopped before a read ends that waits for a standby, so the end of a test does not wait for it.
  if (expect.getState().currentTestName === undefined) afterAll(close)
  else onTestFinished(() => void close())
  const requestDb = retryNotFound(db, reads.fence)
  const api = await openApiFixtureOn(databaseUrl, db, {
    db: requestDb,
    readers: { rows: reads.rows, counts: reads.fenced },
    batches: openPetBatches(readingFrom(reads.rows, requestDb), true, 5, () => {}),
    // A sweep would use the primary before each read.
    holds: { waitUntilFresh: () => undefined },
  })

  async function getFrom(target: StandbyNode | 'primary', path: string): Promise<TestResponse> {
    const read = `read ${target === 'primary' ? target : hostOf(target.url)}`
    let response: TestResponse | undefined
    await until(async () => {
      response = await api.get(path)
      expect(response.status, response.text).toBe(200)
      return told.findLast((text) => text.startsWith('read ')) === read
    })
    return response as TestResponse
  }

  return {
    api,
    db,
    reads,
    told,
    leftOut,
    statements,
    count: (statement) => statements.filter((name) => name === statement).length,
    getFrom,
    warmUp: async (standbys) => {
      for (const standby of standbys) await getFrom(standby, '/store/orders?limit=1')
    },
    holdPositions,
  }
}

function holdingPositions(primary: Db): { db: Db; holdPositions: () => HeldPositions } {
  let hold: (() => Promise<void>) | undefined
  const db: Db = {
    ...primary,
    read: async (statement) => {
      const rows = await primary.read<never>(statement)
      if (statement.name === 'read_position') await hold?.()
      return rows
    },
  }
  function holdPositions(): HeldPositions {
    const { promise, resolve } = Promise.withResolvers<void>()
    let count = 0
    hold = () => {
      count += 1
      return promise
    }
    return {
      count: () => count,
      release: () => {
        hold = undefined
        resolve()
      },
    }
  }
  return { db, holdPositions }
}

/** Pauses or continues the replay of WAL on standbys, and waits until they have done it. */
export async function setReplay(
  standbys: readonly StandbyNode[],
  state: 'paused' | 'not paused',
): Promise<void> {
  const change = state === 'paused' ? 'pg_wal_replay_pause()' : 'pg_wal_replay_resume()'
  await Promise.all(
    standbys.map(async ({ url }) => {
      await sql(url, `select ${change}`)
      const text = 'select pg_get_wal_replay_pause_state() as state'
      await until(async () => (await sql<{ state: string }>(url, text))[0]?.state === state)
    }),
  )
}

/** Waits until a read has asked one of these standbys whether it has replayed a position that it has not replayed. */
export async function untilWaiting(standbys: readonly StandbyNode[], count = 1): Promise<void> {
  const since = await Promise.all(standbys.map(({ url }) => sql<{ now: Date }>(url, 'select now() as now')))
  const text = `select from pg_stat_activity where usename = 'petstore_app'
      and query like '%pg_last_wal_replay_lsn() >=%' and query_start > $1`
  await until(async () => {
    const asked = await Promise.all(
      standbys.map(({ url }, index) => sql(url, text, [since[index]?.[0]?.now])),
    )
    return asked.flat().length >= count
  })
}
