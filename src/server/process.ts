// The process around the application: ports, signals and background jobs.
// app.ts handles requests.
import type { FastifyInstance } from 'fastify'
import { apiKeyVerifier } from '../access/api-keys/api-keys.ts'
import { watchApiKeys } from '../access/api-keys/key-watch.ts'
import { trackUsage } from '../access/api-keys/usage.ts'
import { type IdentityProvider, openIdentityProvider } from '../access/sign-in/provider.ts'
import type { Config } from '../config/config.ts'
import { openByteBudget } from '../contract/byte-budget.ts'
import { afterWrites } from '../db/after-writes.ts'
import type { Db } from '../db/database.ts'
import { durableEvents } from '../events/feed/durable.ts'
import { openEventStreams, STREAM_READS, type StreamRead } from '../events/feed/streams.ts'
import { addressRule } from '../events/webhooks/addresses.ts'
import { LARGE_RESPONSES_MAX_BYTES } from '../http/response-bytes.ts'
import { trackHolds } from '../store/holds/sweep.ts'
import { openPetExports } from '../store/pet-export/exports.ts'
import { openSelling } from '../store/orders/selling.ts'
import { openPetTable } from '../store/pets/table.ts'
import { REMOVALS } from '../store/pets/deprecation.ts'
import { openSettings } from '../store/settings/current-settings.ts'
import { describeOtherVariables } from '../store/settings/initial-settings.ts'
import { findSettings } from '../store/settings/queries.ts'
import { limitedWarning } from '../telemetry/limited-warning.ts'
import { type Log, openLog } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { startTracing } from '../telemetry/tracing/start-tracing.ts'
import { buildAdminApp, type Readiness } from './admin.ts'
import { type AppOptions, buildApp, CONNECTIONS_MAX } from './app.ts'
import { startBackground } from './background.ts'
import { followingJobs, measuringJobs, openWakeups, storeJobs } from './jobs.ts'
import { listen, listenAdmin } from './listen.ts'
import { drain } from './shutdown.ts'
import { openServiceMetrics } from './store-metrics/store-metrics.ts'
import { openServiceDatabase, waitForSchema } from './service-database.ts'

/** Runs the service until a signal ends the process. `isBatching`: see openPetTable. */
export async function runService(config: Config, { isBatching = true } = {}): Promise<void> {
  const log = openLog(config.LOG_LEVEL)
  process.on('exit', log.writer.flushSync)
  const services = await openServices(config, log, isBatching)
  const { db, holds, eventStreams, metrics, tracing } = services
  const state: ProcessState = {
    isDraining: false,
    readiness: { ready: false, reason: 'the schema has not been checked yet' },
  }
  const app = await buildApp(appOptions(config, log, services, state))
  const admin = buildAdminApp({ metrics, readiness: () => state.readiness })

  // Open the admin port first: if the port is in use, the process exits before it accepts requests.
  await listenAdmin(admin, config)
  // Before the first request, sweep the holds that expired while no instance was running. If the sweep fails, start
  // anyway: without the database, requests cannot read stale holds.
  await holds.sweep().catch((err: unknown) => log.warn({ err }, 'expired holds could not be swept'))

  const measuring = measuringJobs(services)
  const jobs = [...followingJobs(services), ...storeJobs({ ...services, config }), ...measuring]
  const background = startBackground(jobs, log, metrics.jobs)

  drain({
    app,
    graceMs: config.SHUTDOWN_GRACE_MS,
    log,
    onDraining: () => {
      state.isDraining = true
      state.readiness = { ready: false, reason: 'the process is shutting down' }
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
  await listenApi(app, config)
  const addresses = { address: app.listeningOrigin, admin: admin.listeningOrigin }
  log.info(addresses, 'listening')
  // Sends the ports to a parent process that has set PORT=0.
  process.send?.(addresses)

  const current = await waitForSchema(db, log)
  if (current && !state.isDraining) state.readiness = { ready: true, reason: 'the schema is current' }
  // If one of them fails, its background job retries.
  if (current) await Promise.allSettled(measuring.map(({ work }) => work()))
  if (current) await warnOfOtherSettings(db, config, log)
}

/** A stored value wins over a variable that was changed after the first migration. */
async function warnOfOtherSettings(db: Db, config: Config, log: Log): Promise<void> {
  try {
    for (const { message, remedy } of describeOtherVariables(await findSettings(db), config)) {
      log.warn({ remedy }, message)
    }
  } catch (err) {
    log.warn({ err }, 'the stored settings could not be compared with the variables')
  }
}

/** What signals and the check of the schema change, and requests and the admin port read. */
interface ProcessState {
  isDraining: boolean
  readiness: Readiness
}

type Services = Awaited<ReturnType<typeof openServices>>

/** Opens what both requests and background jobs use. */
async function openServices(config: Config, log: Log, isBatching: boolean) {
  const metrics = openServiceMetrics({ connections: () => db.connections() }, log, REMOVALS)
  const tracing = await startTracing(config, log)
  const db = openServiceDatabase(config, log, { observer: metrics.database, tracing })
  const wakeups = openWakeups()
  const usage = trackUsage(() => new Date())
  const holds = trackHolds(db, log, undefined, undefined, {
    sweepIn: wakeups.sweep.wake,
    onEnded: wakeups.onChange,
  })
  const responseBytes = openByteBudget(LARGE_RESPONSES_MAX_BYTES, metrics.setResponseBytes)
  const findEvents = durableEvents(db, tracing, responseBytes)
  const onFailure = reportStreamFailures(log, metrics)
  const keys = watchApiKeys(db, (error) => onFailure('api_keys', error))
  const eventStreams = openEventStreams({
    db,
    findEvents,
    keys,
    max: config.EVENT_STREAMS_MAX,
    onCount: (open) => {
      metrics.setEventStreams(open)
      if (open > 0) wakeups.sequence.wake()
    },
    onFailure,
  })
  /** The background jobs follow the changes of requests at once. */
  const wakingDb = afterWrites(db, wakeups.onChange)
  const petTable = openPetTable(
    wakingDb,
    isBatching,
    config.DATABASE_POOL_SIZE,
    metrics.observeBatch,
    tracing,
  )
  const selling = openSelling(wakingDb, {
    isBatching,
    connections: config.DATABASE_POOL_SIZE,
    observe: metrics.observeBatch,
    tracing,
  })
  return {
    metrics,
    tracing,
    db,
    wakingDb,
    petTable,
    selling,
    wakeups,
    usage,
    holds,
    responseBytes,
    findEvents,
    keys,
    eventStreams,
  }
}

function appOptions(config: Config, log: Log, services: Services, state: ProcessState): AppOptions {
  const { metrics, tracing, db, wakingDb, petTable, selling, usage, holds } = services
  return {
    db: wakingDb,
    petTable,
    selling,
    categoryPolicy: config.CATEGORIES,
    publicUrl: config.PUBLIC_URL,
    clock: () => new Date(),
    verifyApiKey: apiKeyVerifier(db, config.PETSTORE_ENV, undefined, tracing),
    usage,
    holds,
    responseBytes: services.responseBytes,
    findEvents: services.findEvents,
    eventStreams: services.eventStreams,
    petExports: openPetExports(services.keys),
    holdMinutes: config.HOLD_MINUTES,
    settings: openSettings(db),
    environment: config.PETSTORE_ENV,
    rateLimitPerSecond: config.RATE_LIMIT_PER_SECOND,
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
    logClientAddress: config.LOG_CLIENT_ADDRESS === 'on',
    unauthenticatedLimitPerSecond: config.UNAUTHENTICATED_LIMIT_PER_SECOND,
    webhooksMax: config.WEBHOOKS_MAX,
    webhookAddresses: addressRule(config.WEBHOOK_NETWORKS),
    identityProvider: identityProviderOf(config),
    isDraining: () => state.isDraining,
    metrics,
    log,
    tracing,
  }
}

function listenApi(app: FastifyInstance, config: Config): Promise<void> {
  return listen(
    app,
    { hostSetting: 'HOST', portSetting: 'PORT', host: config.HOST, port: config.PORT },
    {
      // A backlog this large avoids SYN retries when many clients connect at once.
      backlog: CONNECTIONS_MAX,
      ...(config.SHARE_PORT === 'on' && { reusePort: true }),
    },
  )
}

/** Counts each failed read of the streams. They retry it up to 20 times a second, so only few failures are logged. */
function reportStreamFailures(log: Log, metrics: Metrics) {
  for (const read of STREAM_READS) metrics.countStreamFailure(read, 0)
  const warn = limitedWarning(log, 'failures', 'event streams or exports could not read from the database')
  return (read: StreamRead, err: unknown): void => {
    metrics.countStreamFailure(read)
    warn({ err, read })
  }
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
    prompt: config.OIDC_PROMPT,
  })
}
