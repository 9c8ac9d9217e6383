// Delivers the webhooks of an application in the test process, as `petstore deliver` does, with shorter pauses.
import { afterAll } from 'vitest'
import type { Db } from '../../src/db/database.ts'
import { type Deliverer, openDeliverer } from '../../src/events/delivery/deliverer.ts'
import type { MemoryLimits } from '../../src/events/delivery/memory.ts'
import { openSchedule } from '../../src/events/delivery/schedule.ts'
import { openSender } from '../../src/events/delivery/sender.ts'
import { durableEvents } from '../../src/events/feed/durable.ts'
import { startBackground } from '../../src/server/background.ts'
import { openTestDatabase } from './database.ts'
import { asDelivery } from './roles.ts'
import { openTestLog } from './test-log.ts'

export interface TestDeliverer extends Deliverer {
  db: Db
  /** Makes the next statement with this name fail once, or the next transaction for `transaction`. */
  failOnce: (statement: string) => void
  /** Whether no statement must fail any more. */
  hasFailed: () => boolean
}

/** More than any test needs, so that no message is given up before a slow host has done its part. */
const SHORT_DELAYS_SECONDS = [0.01, 0.3, 1, 3, ...Array<number>(20).fill(10)]
/** Much longer than in production: an attempt that takes long on a busy host would be sent a second time. */
const SEND_TIMEOUT_MS = 120_000

/** A process that delivers only while the test calls `run`. */
export function openTestDeliverer(
  databaseUrl: string,
  retrySeconds: readonly number[] = SHORT_DELAYS_SECONDS,
  memory?: MemoryLimits,
): TestDeliverer {
  const { db, failOnce, hasFailed } = withFaults(openTestDatabase(asDelivery(databaseUrl)))
  const sender = openSender({ allowedNetworks: ['127.0.0.1'], connectionsPerHostMax: 16 })
  const deliverer = openDeliverer({
    db,
    findEvents: durableEvents(db),
    sender: { ...sender, send: (delivery) => sender.send({ timeoutMs: SEND_TIMEOUT_MS, ...delivery }) },
    schedule: openSchedule(retrySeconds),
    observe: () => {},
    log: openTestLog(),
    ...(memory && { memory }),
  })
  let stopping: Promise<void> | undefined
  const stop = async () => {
    await deliverer.stop()
    await sender.close()
  }
  const stopOnce = () => (stopping ??= stop())
  afterAll(stopOnce)
  return { ...deliverer, db, failOnce, hasFailed, stop: stopOnce }
}

/**
 * A process that delivers until `stop`, which ends it like SIGTERM.
 * @param retrySeconds The delays after failed attempts, shorter than in production.
 */
export function startDeliverer(
  databaseUrl: string,
  retrySeconds?: readonly number[],
): Omit<TestDeliverer, 'run'> {
  const { run, stop, ...deliverer } = openTestDeliverer(databaseUrl, retrySeconds)
  const background = startBackground([{ name: 'deliver', everyMs: 10, work: run }], openTestLog())
  let stopping: Promise<void> | undefined
  const stopOnce = () => (stopping ??= background.stop().then(stop))
  afterAll(stopOnce)
  return { ...deliverer, stop: stopOnce }
}

/** The same database, with faults that a test chooses. */
export function withFaults(db: Db): Pick<TestDeliverer, 'db' | 'failOnce' | 'hasFailed'> {
  let failing: string | undefined
  const fail = (statement: string) => {
    if (statement !== failing) return false
    failing = undefined
    return true
  }
  const unavailable = () => Promise.reject(new Error('the database is unavailable for a moment'))
  return {
    db: {
      ...db,
      read: (statement) => (fail(statement.name) ? unavailable() : db.read(statement)),
      write: (statement) => (fail(statement.name) ? unavailable() : db.write(statement)),
      transaction: (work) => (fail('transaction') ? unavailable() : db.transaction(work)),
    },
    failOnce: (statement) => {
      failing = statement
    },
    hasFailed: () => failing === undefined,
  }
}
