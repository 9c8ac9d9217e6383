// The process of `petstore deliver`: the admin port, signals and the delivery of webhooks.
// Accepts no requests of clients.
import type { Config } from '../config/config.ts'
import { DELIVERED_EVERY_MS, type Deliverer, openDeliverer } from '../events/delivery/deliverer.ts'
import { openDeliveryMetrics } from '../events/delivery/metrics.ts'
import { openSchedule } from '../events/delivery/schedule.ts'
import { openSender } from '../events/delivery/sender.ts'
import { IN_FLIGHT_MAX } from '../events/delivery/transitions.ts'
import { durableEvents } from '../events/feed/durable.ts'
import { openLog } from '../telemetry/log.ts'
import { startTracing } from '../telemetry/tracing/start-tracing.ts'
import { buildAdminApp, type Readiness } from './admin.ts'
import { startBackground } from './background.ts'
import { listenAdmin } from './listen.ts'
import { drain } from './shutdown.ts'
import { openServiceDatabase, waitForSchema } from './service-database.ts'

/** Delivers webhooks until a signal ends the process. */
export async function runDeliverer(config: Config): Promise<void> {
  const log = openLog(config.LOG_LEVEL)
  process.on('exit', log.writer.flushSync)
  const tracing = await startTracing(config, log)
  // Without spans of statements: each attempt to deliver is one span, and the database work serves many attempts.
  const db = openServiceDatabase(config, log)
  const sender = openSender({
    allowedNetworks: config.WEBHOOK_NETWORKS,
    connectionsPerHostMax: IN_FLIGHT_MAX,
  })
  const metrics = openDeliveryMetrics(() => deliverer.state())
  const deliverer: Deliverer = openDeliverer({
    db,
    findEvents: durableEvents(db),
    sender,
    schedule: openSchedule(config.WEBHOOK_RETRY_SECONDS),
    observe: metrics.observe,
    log,
    tracing,
  })
  let readiness: Readiness = { ready: false, reason: 'the schema has not been checked yet' }
  const admin = buildAdminApp({ metrics, readiness: () => readiness })
  await listenAdmin(admin, config)

  let background: ReturnType<typeof startBackground> | undefined
  drain({
    app: admin,
    // No load balancer sends requests to this process.
    graceMs: 0,
    log,
    onDraining: () => {
      readiness = { ready: false, reason: 'the process is shutting down' }
    },
    afterwards: async () => {
      await background?.stop()
      await deliverer.stop()
      await sender.close()
      await db.close()
      await tracing?.close()
    },
  })
  const address = { admin: admin.listeningOrigin }
  log.info(address, 'delivering webhooks')
  // Sends the port to a parent process that has set ADMIN_PORT=0.
  process.send?.(address)

  const job = { name: 'deliver webhooks', everyMs: DELIVERED_EVERY_MS, work: deliverer.run }
  // Also shows for how long the schema could not be checked.
  metrics.jobs.onStart(job.name)
  const current = await waitForSchema(db, log)
  if (!current) return
  readiness = { ready: true, reason: 'the schema is current' }
  background = startBackground([job], log, metrics.jobs)
}
