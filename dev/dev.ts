// `npm run dev`: a real PostgreSQL, migrated, with demo animals and a key, and the service with reload.
import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey } from '../src/api-keys/api-keys.ts'
import { SCOPES } from '../src/scopes.ts'
import { paint, say } from '../src/cli/terminal.ts'
import { environmentWith } from '../src/config.ts'
import { type Db, openDatabase } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import {
  isReachable,
  type Cluster,
  embeddedBinaries,
  freePort,
  isFree,
  runningPort,
  startCluster,
} from './cluster.ts'
import { addDemoPets } from './demo.ts'

const ROOT = resolve(import.meta.dirname, '..')
const READY_TIMEOUT_MS = 30_000

// As root, PostgreSQL runs as another user, who may be kept out of the checkout.
const FOLDER =
  userInfo().uid === 0 ? `/var/tmp/petstore-dev-${hash('sha256', ROOT).slice(0, 8)}` : join(ROOT, '.dev')
const DATA_FOLDER = join(FOLDER, 'postgres')
const KEY_FILE = join(FOLDER, 'api-key')

async function dev(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  say(paint('dim', 'Starting PostgreSQL 18 …'))
  const cluster = await openCluster()
  const databaseUrl = cluster.url('postgres')
  await migrate(databaseUrl)

  const db = openDatabase({ databaseUrl, applicationName: 'petstore-dev', size: 1, onError: () => {} })
  const added = await addDemoPets(db)
  if (added > 0) say(paint('dim', `Added ${added} demo animals.`))
  const apiKey = await devApiKey(db)
  await db.close()

  const { PORT, ADMIN_PORT } = environmentWith({})
  const port = PORT ?? (await portNear(3000))
  const adminPort = ADMIN_PORT ?? (await portNear(9090))
  const service = spawn(
    process.execPath,
    ['--watch', '--watch-preserve-output', join(ROOT, 'bin/petstore.ts'), 'serve'],
    {
      cwd: ROOT,
      stdio: 'inherit',
      env: environmentWith({
        DATABASE_URL: databaseUrl,
        PETSTORE_ENV: 'staging',
        PORT: port,
        ADMIN_PORT: adminPort,
      }),
    },
  )
  service.on('exit', () => void end(cluster))
  // The terminal sends an interrupt to the service as well; this process waits for its end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => service.kill('SIGTERM'))

  if (await isReady(adminPort)) welcome({ port, adminPort, databaseUrl, apiKey })
  else say(paint('red', 'The service did not become ready; its log above says why.'))
}

/** A server that an earlier run left behind is used again; two on one folder would destroy each other. */
async function openCluster(): Promise<Cluster> {
  const port = runningPort(DATA_FOLDER)
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  if (port !== undefined && (await isReachable(url('postgres')))) {
    return { url, port, pid: undefined, stop: async () => {} }
  }
  return startCluster({ binaries: embeddedBinaries(), dataFolder: DATA_FOLDER, port: await freePort() })
}

/** The usual port, or a free one where another program has it. */
async function portNear(usual: number): Promise<string> {
  const port = (await isFree(usual)) ? usual : await freePort()
  if (port !== usual) say(paint('yellow', `Port ${usual} is taken; using ${port}.`))
  return String(port)
}

/** Made once; the file is the only place where it is kept. */
async function devApiKey(db: Db): Promise<string> {
  if (existsSync(KEY_FILE)) return readFileSync(KEY_FILE, 'utf8').trim()
  const issued = await createApiKey(db, 'staging', {
    name: 'dev',
    scopes: SCOPES,
    rateLimit: undefined,
    expiresInSeconds: undefined,
  })
  writeFileSync(KEY_FILE, `${issued.text}\n`, { mode: 0o600 })
  return issued.text
}

async function isReady(adminPort: string): Promise<boolean> {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS
  while (Date.now() < giveUpAt) {
    const response = await fetch(`http://127.0.0.1:${adminPort}/ready`).catch(() => undefined)
    if (response?.ok) return true
    await sleep(100)
  }
  return false
}

function welcome(at: { port: string; adminPort: string; databaseUrl: string; apiKey: string }): void {
  say(`
${paint('bold', 'Petstore is ready.')}

  Service    http://127.0.0.1:${at.port}/v1
  Reference  http://127.0.0.1:${at.port}/docs
  Metrics    http://127.0.0.1:${at.adminPort}/metrics
  Database   ${at.databaseUrl}
  API key    ${at.apiKey}

Try it:

  curl -H 'Authorization: Bearer ${at.apiKey}' 'http://127.0.0.1:${at.port}/v1/pets?status=available&limit=5'

The service starts again when a source file changes. End with Ctrl-C.
`)
}

async function end(cluster: Cluster): Promise<void> {
  await cluster.stop()
  process.exit()
}

await dev()
