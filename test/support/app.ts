// Starts the application in this process, on its own port, with the options that a test chooses.
import { afterAll } from 'vitest'
import { apiKeyVerifier, createApiKey } from '../../src/access/api-keys/api-keys.ts'
import type { NewApiKey } from '../../src/access/api-keys/schema.ts'
import { watchApiKeys } from '../../src/access/api-keys/key-watch.ts'
import { trackUsage } from '../../src/access/api-keys/usage.ts'
import { openByteBudget } from '../../src/contract/byte-budget.ts'
import { DEFAULT_SCOPES } from '../../src/contract/scopes.ts'
import type { Db } from '../../src/db/database.ts'
import { durableEvents } from '../../src/events/feed/durable.ts'
import { openEventStreams } from '../../src/events/feed/streams.ts'
import { addressRule } from '../../src/events/webhooks/addresses.ts'
import { LARGE_RESPONSES_MAX_BYTES } from '../../src/http/response-bytes.ts'
import { type AppOptions, buildApp } from '../../src/server/app.ts'
import { trackHolds } from '../../src/store/holds/sweep.ts'
import { openPetExports } from '../../src/store/pet-export/exports.ts'
import { openSettings } from '../../src/store/settings/current-settings.ts'
import { openSelling } from '../../src/store/orders/selling.ts'
import { openPetTable } from '../../src/store/pets/table.ts'
import { openMetrics } from '../../src/telemetry/metrics.ts'
import { openTestClient, type TestClient } from './client.ts'
import { openTestLog } from './test-log.ts'

/** Longer than the timeout of a test, so that no test fails because the host is busy. */
export const NO_TIMEOUT_MS = 600_000

/** Listens on a free port, unless `port` is given. */
export async function startApp(db: Db, choices: Partial<AppOptions> = {}, port = 0): Promise<TestClient> {
  const log = openTestLog()
  const app = await buildApp({
    db,
    petTable: openPetTable(db, true, 1, () => {}),
    selling: openSelling(db),
    categoryPolicy: 'any',
    publicUrl: '',
    clock: () => new Date(),
    verifyApiKey: apiKeyVerifier(db, 'production'),
    usage: trackUsage(() => new Date()),
    holds: trackHolds(db, log, undefined, NO_TIMEOUT_MS),
    responseBytes: openByteBudget(LARGE_RESPONSES_MAX_BYTES),
    findEvents: durableEvents(db),
    eventStreams: openEventStreams({ db, max: 1_000 }),
    petExports: openPetExports(watchApiKeys(db), { max: 1_000, perKeyMax: 1_000, timeoutMs: NO_TIMEOUT_MS }),
    webhookAddresses: addressRule(['127.0.0.1', '::1']),
    webhooksMax: 100,
    holdMinutes: 60,
    settings: openSettings(db),
    environment: 'production',
    isDraining: () => false,
    rateLimitPerSecond: 0,
    corsOrigins: [],
    trustProxy: [],
    logClientAddress: false,
    unauthenticatedLimitPerSecond: 0,
    responseTimeoutMs: NO_TIMEOUT_MS,
    headersTimeoutMs: NO_TIMEOUT_MS,
    requestTimeoutMs: NO_TIMEOUT_MS,
    stalledAfterMs: NO_TIMEOUT_MS,
    metrics: openMetrics(db, log),
    log,
    ...choices,
  })
  const origin = await app.listen({ port })
  afterAll(() => app.close())
  return openTestClient({ origin, apiKey: (await issueApiKey(db)).text })
}

export function issueApiKey(db: Db, choices: Partial<NewApiKey> = {}) {
  return createApiKey(db, 'production', {
    name: 'test',
    scopes: DEFAULT_SCOPES,
    rateLimit: undefined,
    expiresInSeconds: undefined,
    ...choices,
  })
}
