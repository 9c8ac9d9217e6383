// `npm run dev`: starts PostgreSQL and a demo identity provider, migrates the database, adds demo pets and an API key,
// builds the console, and runs the service and the delivery of webhooks with reload.
import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { apiKeyVerifier, createApiKey } from '../src/api-keys/api-keys.ts'
import { SCOPES } from '../src/scopes.ts'
import { choosePort, isReady, stopTogether } from '../src/cli/demo.ts'
import { paint, say } from '../src/cli/terminal.ts'
import { environmentWith } from '../src/config.ts'
import { type Db, openDatabase } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import {
  isReachable,
  type Cluster,
  embeddedBinaries,
  freePort,
  runningPort,
  startCluster,
} from '../src/demo/cluster.ts'
import { addDemoPets, holdDemoPets } from '../src/demo/demo-pets.ts'
import { buildConsole } from './console.ts'
import { DEMO_PEOPLE, startIdentityProvider } from './identity-provider.ts'

const ROOT = resolve(import.meta.dirname, '..')

// If this process runs as root, PostgreSQL runs as another user, which may have no access to the checkout.
const FOLDER =
  userInfo().uid === 0 ? `/var/tmp/petstore-dev-${hash('sha256', ROOT).slice(0, 8)}` : join(ROOT, '.dev')
const DATA_FOLDER = join(FOLDER, 'postgres')
const KEY_FILE = join(FOLDER, 'api-key')
/** Receivers on this machine can get webhooks, also over HTTP. */
const LOOPBACK = '127.0.0.1,::1'
const API_KEY_NAME = 'dev'
const DEMO_ROLES = 'admin=petstore-admins,staff=shop,viewer=*'

async function dev(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const { PORT, ADMIN_PORT, WEBHOOK_NETWORKS } = environmentWith({})
  const port = PORT ?? (await choosePort(3000))
  const adminPort = ADMIN_PORT ?? (await choosePort(9090))
  // Starts while PostgreSQL does.
  const signIn = signInSettings(`http://127.0.0.1:${port}`)
  say(paint('dim', 'Starting PostgreSQL 18 and building the console …'))
  const [cluster] = await Promise.all([openCluster(), buildConsole()])
  const databaseUrl = cluster.url('postgres')
  await migrate(databaseUrl)

  const db = openDatabase({ databaseUrl, applicationName: 'petstore-dev', size: 1, onError: () => {} })
  const added = await addDemoPets(db)
  if (added > 0) say(paint('dim', `Added ${added} demo pets.`))
  const apiKey = await devApiKey(db)
  if (added > 0) await holdDemoPets(db, API_KEY_NAME)
  await db.close()

  const settings = {
    DATABASE_URL: databaseUrl,
    PETSTORE_ENV: 'staging',
    WEBHOOK_NETWORKS: WEBHOOK_NETWORKS ?? LOOPBACK,
  }
  const processes = [
    startCommand('serve', { ...settings, PORT: port, ADMIN_PORT: adminPort, ...(await signIn) }),
    startCommand('deliver', { ...settings, ADMIN_PORT: '0' }),
  ]
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
  void stopTogether(processes, stopping.signal).then(() => stop(cluster))

  if (await isReady(adminPort, stopping.signal)) printWelcome({ port, adminPort, databaseUrl, apiKey })
  else if (!stopping.signal.aborted) say(paint('red', 'The service did not become ready. See its log above.'))
}

/** Starts a command of the executable, and starts it again when a source file changes. */
function startCommand(command: string, settings: Record<string, string>): ChildProcess {
  const args = ['--watch', '--watch-preserve-output', join(ROOT, 'bin/petstore.ts'), command]
  return spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: environmentWith(settings) })
}

/** Reuses a server from an earlier run, because two servers on one folder would corrupt the data. */
async function openCluster(): Promise<Cluster> {
  const port = runningPort(DATA_FOLDER)
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  if (port !== undefined && (await isReachable(url('postgres')))) {
    return { url, port, pid: undefined, stop: async () => {} }
  }
  return startCluster({ binaries: embeddedBinaries(), dataFolder: DATA_FOLDER, port: await freePort() })
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
 * Returns the API key for development. The key is created on the first run and stored only in KEY_FILE. It is replaced if
 * it lacks a scope, because an earlier version created it.
 */
async function devApiKey(db: Db): Promise<string> {
  const stored = existsSync(KEY_FILE) ? readFileSync(KEY_FILE, 'utf8').trim() : undefined
  const caller = stored === undefined ? undefined : await apiKeyVerifier(db, 'staging')(stored)
  if (stored !== undefined && SCOPES.every((scope) => caller?.scopes.includes(scope))) return stored
  const issued = await createApiKey(db, 'staging', {
    name: API_KEY_NAME,
    scopes: SCOPES,
    rateLimit: undefined,
    expiresInSeconds: undefined,
  })
  writeFileSync(KEY_FILE, `${issued.text}\n`, { mode: 0o600 })
  return issued.text
}

function printWelcome(at: { port: string; adminPort: string; databaseUrl: string; apiKey: string }): void {
  say(`
${paint('bold', 'Petstore is ready.')}

  Console    http://127.0.0.1:${at.port}/
  Service    http://127.0.0.1:${at.port}/v1
  Reference  http://127.0.0.1:${at.port}/docs
  Metrics    http://127.0.0.1:${at.adminPort}/metrics
  Database   ${at.databaseUrl}
  API key    ${at.apiKey}

Try it:

  curl -H 'Authorization: Bearer ${at.apiKey}' 'http://127.0.0.1:${at.port}/v1/pets?status=available&limit=5'

Webhooks can send events to a receiver on this machine:

  PETSTORE_URL=http://127.0.0.1:${at.port} PETSTORE_API_KEY=${at.apiKey} npm run petstore -- webhooks create http://127.0.0.1:4000/hook

The service restarts when a source file changes. Press Ctrl-C to stop.
`)
}

async function stop(cluster: Cluster): Promise<void> {
  await cluster.stop()
  process.exit()
}

await dev()
