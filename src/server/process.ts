// The process around the application: ports, signals and background jobs.
// Knows nothing about requests; app.ts handles them.
import { apiKeyVerifier } from '../api-keys/api-keys.ts'
import { trackUsage } from '../api-keys/usage.ts'
import { startBackground } from './background.ts'
import { type Config, formerNameWarnings } from '../config.ts'
import { buildAdminApp, type Readiness } from './admin.ts'
import { buildApp, CONNECTIONS_MAX } from './app.ts'
import { openMetrics } from '../telemetry/metrics.ts'
import { purgeIdempotencyKeys } from '../idempotency/idempotency.ts'
import {
  OLD_EVENTS_DELETED_EVERY_MS,
  purgeEvents,
  SEQUENCED_EVERY_MS,
  sequenceDueEvents,
} from '../events/sequencer.ts'
import { durableEvents } from '../events/durable.ts'
import { openEventStreams } from '../events/streams.ts'
import { EMPTY_COUNTS_DELETED_EVERY_MS, FOLDED_EVERY_MS, foldDueCounts } from '../inventory/inventory.ts'
import { deleteEmptyCounts } from '../inventory/queries.ts'
import { OLD_FIGURES_DELETED_EVERY_MS, purgeFigures } from '../figures/figures.ts'
import { openLog } from '../telemetry/log.ts'
import { SWEPT_EVERY_MS, trackHolds } from '../orders/holds.ts'
import { readStoreState } from '../monitoring/queries.ts'
import { readReplicationFigures } from '../monitoring/replication.ts'
import { type IdentityProvider, openIdentityProvider } from '../people/provider.ts'
import { purgeSignIns, SIGN_INS_PURGED_EVERY_MS } from '../people/sign-ins.ts'
import { openPetBatches } from '../pets/batches.ts'
import { REMOVALS } from '../pets/deprecation.ts'
import { deleteOldRestoreChecks, readRestoreState } from '../restore-checks/queries.ts'
import {
  OLD_RESTORE_CHECKS_DELETED_EVERY_MS,
  RESTORE_CHECKS_KEPT,
  RESTORE_CHECKS_READ_EVERY_MS,
} from '../restore-checks/rules.ts'
import { addressRule } from '../webhooks/addresses.ts'
import { listen, listenAdmin } from './listen.ts'
import { drain } from './shutdown.ts'
import { openStore, waitForSchema } from './store.ts'
import { startTracing } from './start-tracing.ts'

const USAGE_WRITTEN_EVERY_MS = 60_000
const DAY_SECONDS = 24 * 3_600
const IDEMPOTENCY_KEYS_PURGED_EVERY_MS = 600_000
const STORE_MEASURED_EVERY_MS = 10_000

/** Runs the service until a signal ends the process. */
export async function runService(config: Config): Promise<void> {
  const log = openLog(config.LOG_LEVEL)
  process.on('exit', log.writer.flushSync)
  for (const warning of formerNameWarnings()) log.warn(warning)
  const metrics = openMetrics({ connections: () => db.connections() }, log, REMOVALS)
  const tracing = await startTracing(config, log)
  const db = openStore(config, log, { observer: metrics.database, tracing })
  const usage = trackUsage(() => new Date())
  const holds = trackHolds(db, log)
  const findEvents = durableEvents(db, tracing)
  const eventStreams = openEventStreams({
    db,
    findEvents,
    max: config.EVENT_STREAMS_MAX,
    onCount: metrics.setEventStreams,
  })
  const readRestores = async () => metrics.observeRestores(await readRestoreState(db))
  let draining = false
  let readiness: Readiness = { ready: false, reason: 'the schema has not been checked yet' }

  const app = await buildApp({
    db,
    batches: openPetBatches(
      db,
      config.BATCHING === 'on',
      config.DATABASE_POOL_SIZE,
      metrics.observeBatch,
      tracing,
    ),
    categoryPolicy: config.CATEGORIES,
    publicUrl: config.PUBLIC_URL,
    clock: () => new Date(),
    verifyApiKey: apiKeyVerifier(db, config.PETSTORE_ENV, undefined, tracing),
    usage,
    holds,
    findEvents,
    eventStreams,
    holdMinutes: config.HOLD_MINUTES,
    environment: config.PETSTORE_ENV,
    rateLimitPerSecond: config.RATE_LIMIT_PER_SECOND,
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
    logClientAddress: config.LOG_CLIENT_ADDRESS === 'on',
    unauthenticatedLimitPerSecond: config.UNAUTHENTICATED_LIMIT_PER_SECOND,
    webhooksMax: config.WEBHOOKS_MAX,
    webhookAddresses: addressRule(config.WEBHOOK_NETWORKS),
    identityProvider: identityProviderOf(config),
    isDraining: () => draining,
    metrics,
    log,
    tracing,
  })
  const admin = buildAdminApp({ metrics, readiness: () => readiness })

  // Open the admin port first: if the port is in use, the process exits before it accepts requests.
  await listenAdmin(admin, config)
  // Before the first request, sweep the holds that expired while no instance was running. If the sweep fails, start
  // anyway: without the database, requests cannot read stale holds.
  await holds.sweep().catch((err: unknown) => log.warn({ err }, 'expired holds could not be swept'))

  const measureStore = async () =>
    metrics.observeStore({ ...(await readStoreState(db)), replication: await readReplicationFigures(db) })
  let purgedTo = 0n
  const background = startBackground(
    [
      { name: 'sweep expired holds', everyMs: SWEPT_EVERY_MS, work: holds.sweep },
      { name: 'fold counts', everyMs: FOLDED_EVERY_MS, work: () => foldDueCounts(db) },
      {
        name: 'delete empty counts',
        everyMs: EMPTY_COUNTS_DELETED_EVERY_MS,
        work: () => deleteEmptyCounts(db),
      },
      {
        name: 'sequence events',
        everyMs: SEQUENCED_EVERY_MS,
        work: async () => eventStreams.advance(await sequenceDueEvents(db, metrics.observeFeed)),
      },
      {
        name: 'purge events',
        everyMs: OLD_EVENTS_DELETED_EVERY_MS,
        work: async () => {
          purgedTo = await purgeEvents(db, config.EVENT_RETENTION_DAYS * DAY_SECONDS, purgedTo)
        },
      },
      {
        name: 'purge figures',
        everyMs: OLD_FIGURES_DELETED_EVERY_MS,
        work: () => purgeFigures(db),
      },
      { name: 'measure the store', everyMs: STORE_MEASURED_EVERY_MS, work: measureStore },
      { name: 'write usage', everyMs: USAGE_WRITTEN_EVERY_MS, work: () => usage.flush(db) },
      {
        name: 'purge idempotency keys',
        everyMs: IDEMPOTENCY_KEYS_PURGED_EVERY_MS,
        work: () => purgeIdempotencyKeys(db),
      },
      { name: 'purge sign-ins', everyMs: SIGN_INS_PURGED_EVERY_MS, work: () => purgeSignIns(db) },
      { name: 'read restore checks', everyMs: RESTORE_CHECKS_READ_EVERY_MS, work: readRestores },
      {
        name: 'delete old restore checks',
        everyMs: OLD_RESTORE_CHECKS_DELETED_EVERY_MS,
        work: () => deleteOldRestoreChecks(db, RESTORE_CHECKS_KEPT),
      },
    ],
    log,
    metrics.jobs,
  )

  drain({
    app,
    graceMs: config.SHUTDOWN_GRACE_MS,
    log,
    onDraining: () => {
      draining = true
      readiness = { ready: false, reason: 'the process is shutting down' }
      eventStreams.close()
    },
    afterwards: async () => {
      await background.stop()
      await admin.close()
      await db.close()
      await tracing?.close()
    },
  })

  // Open the API port last, when the signal handlers are in place.
  await listen(
    app,
    { hostSetting: 'HOST', portSetting: 'PORT', host: config.HOST, port: config.PORT },
    {
      // A backlog this large avoids SYN retries when many clients connect at once.
      backlog: CONNECTIONS_MAX,
      ...(config.SHARE_PORT === 'on' && { reusePort: true }),
    },
  )
  const addresses = { address: app.listeningOrigin, admin: admin.listeningOrigin }
  log.info(addresses, 'listening')
  // Sends the ports to a parent process that has set PORT=0.
  process.send?.(addresses)

  const current = await waitForSchema(db, log)
  if (current && !draining) readiness = { ready: true, reason: 'the schema is current' }
  // If one of them fails, its background job retries.
  if (current) await Promise.allSettled([measureStore(), readRestores()])
}

/** Returns undefined if no identity provider is configured. Sends no request: the provider may be unavailable. */
function identityProviderOf(config: Config): IdentityProvider | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = config
  if (issuer === undefined || clientId === undefined) return undefined
  return openIdentityProvider({
    issuer,
    clientId,
    clientSecret: config.OIDC_CLIENT_SECRET,
    name: config.OIDC_NAME ?? new URL(issuer).host,
    scopes: config.OIDC_SCOPES,
    rolesClaim: config.OIDC_ROLES_CLAIM,
    roleRules: config.OIDC_ROLES,
  })
}
