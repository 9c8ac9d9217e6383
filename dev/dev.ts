// `npm run dev`: starts PostgreSQL and a demo identity provider, migrates the database, adds demo pets and an API key,
// builds the console, and runs the service and the delivery of webhooks with reload. Keeps its data between runs.
import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { apiKeyVerifier, createApiKey } from '../src/access/api-keys/api-keys.ts'
import { choosePort, DEMO_SETTINGS, isReady, openDemoShop, parsePort, stopTogether } from '../src/cli/demo.ts'
import { paint, say } from '../src/cli/terminal/terminal.ts'
import { withDatabase } from '../src/cli/with-database.ts'
import { environmentWith } from '../src/config/config.ts'
import { SCOPES } from '../src/contract/scopes.ts'
import {
  isReachable,
  type Cluster,
  embeddedBinaries,
  freePort,
  isFree,
  runningPort,
  startCluster,
} from '../src/data/demo/cluster.ts'
import type { Db } from '../src/db/database.ts'
import { migrate } from '../src/db/migrations/migrate.ts'
import { buildConsole } from './console.ts'
import { DEMO_PEOPLE, startIdentityProvider } from './identity-provider.ts'

const ROOT = resolve(import.meta.dirname, '..')

const OPTIONS = {
  fresh: { type: 'boolean', default: false },
  data: { type: 'string' },
  port: { type: 'string' },
  watch: { type: 'boolean', default: true },
  help: { type: 'boolean', default: false },
} as const

const USAGE = `Usage: npm run dev -- [options]

  --fresh        start with new data: delete those of earlier runs first
  --data FOLDER  where to keep the data
  --port PORT    port of the service. The default is the variable PORT, or 3000, or a free port if 3000 is in use
  --no-watch     do not restart the service when a source file changes
`

// If this process runs as root, PostgreSQL runs as another user, which may have no access to the checkout.
const DEFAULT_FOLDER =
  userInfo().uid === 0 ? `/var/tmp/petstore-dev-${hash('sha256', ROOT).slice(0, 8)}` : join(ROOT, '.dev')

/** Where the data and the API key are kept between runs. */
interface Kept {
  folder: string
  postgres: string
  apiKey: string
}

const API_KEY_NAME = 'dev'
const DEMO_ROLES = 'admin=petstore-admins,staff=shop,viewer=*'

async function dev(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, allowNegative: true })
  if (values.help) return void process.stdout.write(USAGE)
  const { PORT, ADMIN_PORT, WEBHOOK_NETWORKS = DEMO_SETTINGS.WEBHOOK_NETWORKS } = environmentWith({})
  const port = await chosenPort(values.port ?? PORT, 3000)
  const adminPort = await chosenPort(ADMIN_PORT, 9090)
  const folder = resolve(values.data ?? DEFAULT_FOLDER)
  const kept = { folder, postgres: join(folder, 'postgres'), apiKey: join(folder, 'api-key') }
  if (values.fresh) await deleteData(kept)
  mkdirSync(folder, { recursive: true })
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
  // Starts while PostgreSQL does.
  const signIn = signInSettings(`http://127.0.0.1:${port}`)
  say(paint('dim', 'Starting PostgreSQL 18 and building the console …'))
  const [cluster] = await Promise.all([openCluster(kept.postgres), buildConsole()])
  const databaseUrl = cluster.url('postgres')
  await migrate(databaseUrl)

  const apiKey = await withDatabase(databaseUrl, 'petstore-dev', async (db) => {
    const text = await devApiKey(db, kept.apiKey)
    const added = await openDemoShop(db)
    if (added > 0) say(paint('dim', `Added ${added} demo pets, with 90 days of sales.`))
    return text
  })

  const settings = {
    DATABASE_URL: databaseUrl,
    PETSTORE_ENV: 'staging',
    ...DEMO_SETTINGS,
    WEBHOOK_NETWORKS,
  }
  const processes = [
    startCommand('serve', values.watch, {
      ...settings,
      PORT: port,
      ADMIN_PORT: adminPort,
      ...(await signIn),
    }),
    startCommand('deliver', values.watch, { ...settings, ADMIN_PORT: '0' }),
  ]
  void stopTogether(processes, stopping.signal).then(() => stop(cluster))

  const isSlow = !(await isReady(adminPort, stopping.signal)) && !stopping.signal.aborted
  if (isSlow) say(paint('red', 'The service is not ready yet. See its log above.'))
  // A change of a source file, or a host that is less busy, can still make it ready.
  if (await isReady(adminPort, stopping.signal, Number.POSITIVE_INFINITY)) {
    printWelcome({ port, adminPort, databaseUrl, apiKey, folder, isWatched: values.watch })
  }
}

/** The port that the developer has chosen, or the usual one. Throws if another program uses a chosen port. */
async function chosenPort(chosen: string | undefined, usual: number): Promise<string> {
  if (chosen === undefined) return choosePort(usual)
  const port = parsePort(chosen)
  if (port !== 0 && !(await isFree(port))) {
    throw new Error(
      `another program uses port ${port}; stop it, or choose another port with --port or ADMIN_PORT`,
    )
  }
  return String(port === 0 ? await freePort() : port)
}

/** Starts a command of the executable. If it is watched, it starts again when a source file changes. */
function startCommand(command: string, isWatched: boolean, settings: Record<string, string>): ChildProcess {
  const flags = isWatched ? ['--watch', '--watch-preserve-output'] : []
  const args = [...flags, join(ROOT, 'bin/petstore.ts'), command]
  return spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: environmentWith(settings) })
}

/** Deletes only what this program has created, because `--data` can name any folder. */
async function deleteData({ folder, postgres, apiKey }: Kept): Promise<void> {
  if ((await findRunning(postgres)) !== undefined) {
    throw new Error(`another \`npm run dev\` uses the data in ${folder}; stop it first`)
  }
  if (existsSync(join(postgres, 'PG_VERSION'))) rmSync(postgres, { recursive: true })
  rmSync(apiKey, { force: true })
}

/** Reuses a server from an earlier run, because two servers on one folder would corrupt the data. */
async function openCluster(dataFolder: string): Promise<Cluster> {
  const running = await findRunning(dataFolder)
  if (running !== undefined) return running
  return startCluster({ binaries: embeddedBinaries(), dataFolder, port: await freePort() })
}

/** The server that already uses the folder, if any. */
async function findRunning(dataFolder: string): Promise<Cluster | undefined> {
  const port = runningPort(dataFolder)
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  if (port === undefined || !(await isReachable(url('postgres')))) return undefined
  return { url, port, pid: undefined, stop: async () => {} }
}

/**
 * Starts the demo identity provider, and returns the settings with which people sign in. Returns none if the developer has
 * configured a provider, or if the demo provider does not start: the API key works without it.
 */
async function signInSettings(publicUrl: string): Promise<Record<string, string>> {
  const configured = environmentWith({})
  if (configured['OIDC_ISSUER'] !== undefined || configured['PUBLIC_URL'] !== undefined) return {}
  const client = { clientId: 'petstore-dev', clientSecret: 'not-a-secret' }
  try {
    const { issuer } = await startIdentityProvider({
      ...client,
      port: await freePort(),
      redirectUri: `${publicUrl}/auth/callback`,
      people: DEMO_PEOPLE,
    })
    return {
      PUBLIC_URL: publicUrl,
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: client.clientId,
      OIDC_CLIENT_SECRET: client.clientSecret,
      OIDC_NAME: 'a demo account',
      OIDC_ROLES: DEMO_ROLES,
    }
  } catch (error) {
    say(paint('yellow', `The demo identity provider did not start: ${(error as Error).message}`))
    return {}
  }
}

/**
 * Returns the API key for development. The key is created on the first run and stored only in this file. It is replaced if
 * it lacks a scope that was added since.
 */
async function devApiKey(db: Db, file: string): Promise<string> {
  const stored = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  const caller = stored === undefined ? undefined : await apiKeyVerifier(db, 'staging')(stored)
  if (stored !== undefined && SCOPES.every((scope) => caller?.scopes.includes(scope))) return stored
  const issued = await createApiKey(db, 'staging', {
    name: API_KEY_NAME,
    scopes: SCOPES,
    rateLimit: undefined,
    expiresInSeconds: undefined,
  })
  writeFileSync(file, `${issued.text}\n`, { mode: 0o600 })
  return issued.text
}

interface Welcome {
  port: string
  adminPort: string
  databaseUrl: string
  apiKey: string
  folder: string
  isWatched: boolean
}

function printWelcome(at: Welcome): void {
  const restarts = at.isWatched ? 'The service restarts when a source file changes. ' : ''
  say(`
${paint('bold', 'Petstore is ready.')}

  Console    http://127.0.0.1:${at.port}/
  Service    http://127.0.0.1:${at.port}/v1
  Reference  http://127.0.0.1:${at.port}/docs
  Metrics    http://127.0.0.1:${at.adminPort}/metrics
  Database   ${at.databaseUrl}
  API key    ${at.apiKey}
  Data       ${at.folder}

Try it:

  curl -H 'Authorization: Bearer ${at.apiKey}' 'http://127.0.0.1:${at.port}/v1/pets?status=available&limit=5'

Webhooks can send events to a receiver on this machine:

  PETSTORE_URL=http://127.0.0.1:${at.port} PETSTORE_API_KEY=${at.apiKey} npm run petstore -- webhooks create http://127.0.0.1:4000/hook

${restarts}Press Ctrl-C to stop. The data are kept; to start with new data, run:
npm run dev -- --fresh
`)
}

async function stop(cluster: Cluster): Promise<void> {
  await cluster.stop()
  process.exit()
}

try {
  await dev()
} catch (error) {
  say(paint('red', (error as Error).message))
  process.exit(1)
}
