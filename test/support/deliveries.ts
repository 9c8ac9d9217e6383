// Delivers the webhooks of an application in the test process, as `petstore deliver` does, with shorter pauses.
import { afterAll } from 'vitest'
import type { Db } from '../../src/db/database.ts'
import { type Deliverer, openDeliverer } from '../../src/deliveries/deliverer.ts'
import { openSchedule } from '../../src/deliveries/schedule.ts'
import { durableEvents } from '../../src/events/durable.ts'
import { startBackground } from '../../src/server/background.ts'
import { openSender } from '../../src/webhooks/sender.ts'
import { openTestDatabase } from './database.ts'
import { asDelivery } from './roles.ts'
import { openTestLog } from './test-log.ts'

export interface RunningDeliverer {
  db: Db
  state: Deliverer['state']
  /** Ends like a process that gets SIGTERM. */
  stop: () => Promise<void>
}

/** More than any test needs, so that no message is given up before a slow host has done its part. */
const SHORT_DELAYS_SECONDS = [0.01, 0.3, 1, 3, ...Array<number>(20).fill(10)]
/** Much longer than in production: an attempt that takes long on a busy host would be sent a second time. */
const SEND_TIMEOUT_MS = 120_000

/** @param retrySeconds The delays after failed attempts, shorter than in production. */
export function startDeliverer(databaseUrl: string, retrySeconds = SHORT_DELAYS_SECONDS): RunningDeliverer {
  const db = openTestDatabase(asDelivery(databaseUrl))
  const sender = openSender({ allowedNetworks: ['127.0.0.1'], connectionsPerHostMax: 16 })
  const log = openTestLog()
  const deliverer = openDeliverer({
    db,
    findEvents: durableEvents(db),
    sender: { ...sender, send: (delivery) => sender.send({ timeoutMs: SEND_TIMEOUT_MS, ...delivery }) },
    schedule: openSchedule(retrySeconds),
    observe: () => {},
    log,
  })
  const background = startBackground([{ name: 'deliver', everyMs: 10, work: deliverer.run }], log)
  let stopping: Promise<void> | undefined
  const stop = async () => {
    await background.stop()
    await deliverer.stop()
    await sender.close()
  }
  const stopOnce = () => (stopping ??= stop())
  afterAll(stopOnce)
  return { db, state: deliverer.state, stop: stopOnce }
}
