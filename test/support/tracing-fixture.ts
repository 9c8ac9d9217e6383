// A service that exports its traces to a receiver in the test process.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import type { Db } from '../../src/db/database.ts'
import { issueApiKey } from './app.ts'
import { openTestClient, type TestClient } from './client.ts'
import { createTestDatabase, openTestDatabase, sql } from './database.ts'
import { type OtlpReceiver, openOtlpReceiver, type ReceivedSpan } from './otlp-receiver.ts'
import { type Service, startService } from './service.ts'

export interface Traced {
  databaseUrl: string
  db: Db
  service: Service
  receiver: OtlpReceiver
  client: TestClient
  apiKey: string
}

/** Spans are exported soon after they end. */
export const SOON = { OTEL_BSP_SCHEDULE_DELAY: '50' }

export async function startTraced(environment: Record<string, string> = {}): Promise<Traced> {
  const databaseUrl = await createTestDatabase()
  // Statements that wait for a lock of a test do not fail because the host is busy.
  await sql(
    databaseUrl,
    `alter role petstore_app in database ${new URL(databaseUrl).pathname.slice(1)} set lock_timeout = '3s'`,
  )
  const db = openTestDatabase(databaseUrl)
  const { text: apiKey } = await issueApiKey(db, { scopes: SCOPES })
  const receiver = await openOtlpReceiver()
  const service = await startService({
    DATABASE_URL: databaseUrl,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    ...SOON,
    ...environment,
  })
  afterAll(() => service.stop())
  return {
    databaseUrl,
    db,
    service,
    receiver,
    apiKey,
    client: openTestClient({ origin: service.origin, apiKey }),
  }
}

/** Records what a service loads and connects to. */
export function recordProcess(): { environment: Record<string, string>; recorded: () => string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-test-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'record')
  const recorder = join(import.meta.dirname, './record-process.ts')
  return {
    environment: { NODE_OPTIONS: `--import=${recorder}`, RECORD_FILE: file },
    recorded: () =>
      [...new Set(readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n'))].filter(Boolean),
  }
}

export const childrenOf = (spans: ReceivedSpan[], { spanId, traceId }: ReceivedSpan) =>
  spans.filter((span) => span.traceId === traceId && span.parentId === spanId)

/** The parents of a span up to the span of its request, which comes last. */
export function ancestorsOf(spans: ReceivedSpan[], span: ReceivedSpan): ReceivedSpan[] {
  const parent = spans.find(({ spanId, traceId }) => spanId === span.parentId && traceId === span.traceId)
  return parent === undefined ? [] : [parent, ...ancestorsOf(spans, parent)]
}
