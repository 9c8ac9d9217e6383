// A real store: two instances and one delivery of webhooks on a PostgreSQL, with an API key that expires and a checked backup.
import { createApiKey } from '../../../src/access/api-keys/api-keys.ts'
import { SCOPES } from '../../../src/contract/scopes.ts'
import { insertRestoreCheck } from '../../../src/data/verify/restore-check-queries.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import type { PetstoreProcess } from '../../parts/petstore-process.ts'
import { preparePetstore, startAndWait } from '../petstore-process.ts'
import type { PrometheusOptions } from '../prometheus.ts'

const INSTANCES = 2
const KEY_SECONDS = 90 * 86_400

interface ObservedStore {
  origins: string[]
  apiKey: string
  targets: PrometheusOptions['targets']
  stop: () => Promise<void>
}

interface StoreOptions {
  /** Gets the logs. */
  folder: string
  /** The database with the role of the service, of `petstore deliver`, and of a superuser. The schema is migrated. */
  serviceUrl: string
  deliverUrl: string
  superuserUrl: string
}

export async function startStore({
  folder,
  serviceUrl,
  deliverUrl,
  superuserUrl,
}: StoreOptions): Promise<ObservedStore> {
  // The instances read the state of the store when they start, and then every 10 seconds.
  const apiKey = await prepare(superuserUrl)
  const started: PetstoreProcess[] = []
  const stop = async () => {
    await Promise.all(started.map((one) => one.stop()))
  }
  const start = async (command: 'serve' | 'deliver', databaseUrl: string): Promise<PetstoreProcess> => {
    const environment = { DATABASE_URL: databaseUrl, WEBHOOK_NETWORKS: '127.0.0.1' }
    const prepared = await preparePetstore(command, { folder, environment })
    started.push(prepared)
    await startAndWait(prepared)
    return prepared
  }
  try {
    const instances = await Promise.all(Array.from({ length: INSTANCES }, () => start('serve', serviceUrl)))
    const deliver = await start('deliver', deliverUrl)
    return {
      origins: instances.map(({ origin }) => origin),
      apiKey,
      targets: { petstore: instances.map(({ admin }) => admin), 'petstore-deliver': [deliver.admin] },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function prepare(databaseUrl: string): Promise<string> {
  const db = openDatabase({ databaseUrl, applicationName: 'dashboards', size: 1, onError: () => {} })
  try {
    const { text } = await createApiKey(db, 'production', {
      name: 'web-shop',
      scopes: SCOPES,
      rateLimit: undefined,
      expiresInSeconds: KEY_SECONDS,
    })
    // Otherwise, the key counts as used only when its usage is written, once a minute.
    await db.write({
      name: 'use_api_keys',
      text: `update api_keys set last_used_at = now()`,
      values: [],
    })
    const check = { repository: 1, backup: '20261116-020000F', recoveredTo: new Date(), isProven: true }
    await insertRestoreCheck(db, { ...check, durationMs: 60_000, message: '' })
    return text
  } finally {
    await db.close()
  }
}
