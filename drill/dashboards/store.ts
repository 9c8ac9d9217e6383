// A real store: two instances and one delivery of webhooks on a PostgreSQL, with an API key that expires and a checked backup.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { nodeFlags } from '../../bench/setup.ts'
import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { environmentWith } from '../../src/config.ts'
import { openDatabase } from '../../src/db/database.ts'
import { insertRestoreCheck } from '../../src/restore-checks/queries.ts'
import { SCOPES } from '../../src/scopes.ts'
import type { PrometheusOptions } from '../monitoring/prometheus.ts'
import { waitUntil } from '../processes.ts'

const EXECUTABLE = join(resolve(import.meta.dirname, '../..'), 'bin/petstore.ts')
const INSTANCES = 2
const READY_TIMEOUT_MS = 60_000
const KEY_SECONDS = 90 * 86_400

export interface ObservedStore {
  origins: string[]
  apiKey: string
  targets: PrometheusOptions['targets']
  stop: () => Promise<void>
}

export interface StoreOptions {
  /** The database with the role of the service, of `petstore deliver`, and of a superuser. The schema is migrated. */
  serviceUrl: string
  deliverUrl: string
  superuserUrl: string
}

export async function startStore({
  serviceUrl,
  deliverUrl,
  superuserUrl,
}: StoreOptions): Promise<ObservedStore> {
  // The instances read the state of the store when they start, and then every 10 seconds.
  const apiKey = await prepare(superuserUrl)
  const instances = await Promise.all(
    Array.from({ length: INSTANCES }, () => startProcess('serve', serviceUrl)),
  )
  const deliver = await startProcess('deliver', deliverUrl)
  const processes = [...instances, deliver]
  const hostOf = ({ admin }: Process) => new URL(admin).host
  return {
    origins: instances.map(({ address }) => address),
    apiKey,
    targets: { petstore: instances.map(hostOf), 'petstore-deliver': [hostOf(deliver)] },
    stop: async () => {
      await Promise.all(processes.map(({ stop }) => stop()))
    },
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
    const check = { backup: '20261116-020000F', recoveredTo: new Date(), durationMs: 60_000, message: '' }
    await insertRestoreCheck(db, { ...check, isProven: true })
    return text
  } finally {
    await db.close()
  }
}

interface Process {
  address: string
  admin: string
  stop: () => Promise<void>
}

async function startProcess(command: 'serve' | 'deliver', databaseUrl: string): Promise<Process> {
  const child = spawn(process.execPath, [...nodeFlags(), EXECUTABLE, command], {
    env: environmentWith({
      DATABASE_URL: databaseUrl,
      PORT: '0',
      ADMIN_PORT: '0',
      ADMIN_HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      WEBHOOK_NETWORKS: '127.0.0.1',
    }),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const failed = exited.then(([code]) => {
    throw new Error(`petstore ${command} exited with ${code}`)
  })
  const [addresses] = (await Promise.race([once(child, 'message'), failed])) as [
    { address: string; admin: string },
  ]
  // From now on, the process may exit.
  failed.catch(() => {})
  await waitUntil(`petstore ${command} is ready`, READY_TIMEOUT_MS, async () =>
    fetch(`${addresses.admin}/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    ...addresses,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
