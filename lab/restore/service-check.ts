// Checks a restored database with the commands of the service, and starts the service on it, as an operator does.
import { Instance, runPetstore, type ServiceOptions } from '../cluster/instances.ts'
import type { RestoreContext } from './context.ts'

/** The service on a copy uses the ports 3009 and 9099. */
const INSTANCE_NUMBER = 9
const REQUEST_TIMEOUT_MS = 5_000

/** Runs `petstore verify`. Returns its seconds. */
export async function verify({ lab, service, violations }: RestoreContext, url: string, when: string) {
  const startedAt = performance.now()
  const options = serviceOptions(lab.logFolder, service, url)
  const { exitCode, stdout, stderr } = await runPetstore(options, ['verify'])
  if (exitCode !== 0) {
    const text = `${when}: petstore verify exited with ${exitCode}: ${stdout}${stderr}`
    violations.add({ kind: 'restoredUnusable', subject: `verify ${when}`, text })
  }
  return (performance.now() - startedAt) / 1000
}

/** Runs `petstore events new-epoch`. */
export async function startEpoch({ lab, service }: RestoreContext, url: string): Promise<void> {
  const options = serviceOptions(lab.logFolder, service, url)
  const { exitCode, stderr } = await runPetstore(options, ['events', 'new-epoch'])
  if (exitCode !== 0) throw new Error(`petstore events new-epoch failed: ${stderr}`)
}

/** Starts the service on a copy: it must serve, accept a write, and reject a position of before the restore. */
export async function serveCopy(context: RestoreContext, url: string, when: string): Promise<void> {
  await startEpoch(context, url)
  const instance = new Instance(INSTANCE_NUMBER, serviceOptions(context.lab.logFolder, context.service, url))
  await instance.start()
  try {
    await instance.waitUntilReady()
    await checkService(context, `http://127.0.0.1:${3000 + INSTANCE_NUMBER}`, when)
  } finally {
    await instance.kill()
  }
}

/** Checks a service on a restored database. */
export async function checkService(context: RestoreContext, origin: string, when: string): Promise<void> {
  const { load, violations } = context
  const expected: [method: string, path: string, status: number, body?: Record<string, unknown>][] = [
    ['GET', '/pets?limit=1', 200],
    ['GET', '/store/inventory', 200],
    ['POST', '/pets', 201, { name: `after the restore, ${when}`, categoryId: 1 }],
    ['GET', load.follower.next, 410],
    ['GET', '/events?after=latest', 200],
  ]
  for (const [method, path, status, body] of expected) {
    const received = await request(context, origin, method, path, body)
    if (received === status) continue
    const text = `${when}: ${method} ${path} returned ${received} instead of ${status}`
    violations.add({ kind: 'restoredUnusable', subject: `${when} ${path}`, text })
  }
}

/** Returns the status. */
export async function request(
  { lab }: RestoreContext,
  origin: string,
  method: string,
  path: string,
  body?: Record<string, unknown>,
): Promise<number> {
  const response = await fetch(`${origin}/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${lab.apiKey}`,
      connection: 'close',
      ...(body && { 'content-type': 'application/json' }),
    },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    ...(body && { body: JSON.stringify(body) }),
  })
  await response.arrayBuffer()
  return response.status
}

function serviceOptions(logFolder: string, folder: string, url: string): ServiceOptions {
  return { folder, databaseUrl: url, migrationDatabaseUrl: url, logFolder }
}
