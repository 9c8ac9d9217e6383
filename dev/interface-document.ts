// Builds the OpenAPI document from the routes, without listening on a port or connecting to a database.
import { watchApiKeys } from '../src/access/api-keys/key-watch.ts'
import { trackUsage } from '../src/access/api-keys/usage.ts'
import { openByteBudget } from '../src/contract/byte-budget.ts'
import { openDatabase } from '../src/db/open-database.ts'
import { durableEvents } from '../src/events/feed/durable.ts'
import { openEventStreams } from '../src/events/feed/streams.ts'
import { addressRule } from '../src/events/webhooks/addresses.ts'
import { buildApp } from '../src/server/app.ts'
import { openPetExports } from '../src/store/pet-export/exports.ts'
import { openSettings } from '../src/store/settings/current-settings.ts'
import { openSelling } from '../src/store/orders/selling.ts'
import { openPetTable } from '../src/store/pets/table.ts'
import { openLog } from '../src/telemetry/log.ts'
import { openMetrics } from '../src/telemetry/metrics.ts'

export async function interfaceDocument(): Promise<object> {
  const db = openDatabase({
    databaseUrl: 'postgres://127.0.0.1/none',
    applicationName: 'petstore-openapi',
    size: 1,
    onError: () => {},
  })
  const log = openLog('silent')
  const app = await buildApp({
    db,
    petTable: openPetTable(db, true, 1, () => {}),
    selling: openSelling(db),
    categoryPolicy: 'any',
    publicUrl: '',
    clock: () => new Date(),
    verifyApiKey: async () => undefined,
    usage: trackUsage(() => new Date()),
    holds: { waitUntilFresh: () => undefined },
    responseBytes: openByteBudget(0),
    findEvents: durableEvents(db),
    eventStreams: openEventStreams({ db, max: 0 }),
    petExports: openPetExports(watchApiKeys(db)),
    webhookAddresses: addressRule([]),
    webhooksMax: 100,
    settings: openSettings(db),
    holdMinutes: 60,
    environment: 'production',
    isDraining: () => false,
    rateLimitPerSecond: 0,
    corsOrigins: [],
    trustProxy: [],
    logClientAddress: false,
    unauthenticatedLimitPerSecond: 0,
    metrics: openMetrics(db, log),
    log,
  })
  const document = app.swagger()
  await app.close()
  await db.close()
  return document
}
