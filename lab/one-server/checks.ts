// What must be true of the server after an operator has followed docs/production.md.
import { waitUntil } from '../parts/wait-until.ts'
import type { Machine } from './machine.ts'

/** Runs a command of petstore on the server. */
export const ADMIN = '/usr/local/sbin/petstore-admin'
const ORIGIN = 'https://shop.example'
/** Two instances and the delivery of webhooks. */
const TARGETS = 3
const ALERTS_TIMEOUT_MS = 240_000
const READY_TIMEOUT_MS = 120_000
/** archive_timeout is 60 s. */
const ARCHIVE_TIMEOUT_MS = 150_000
const LISTENING = '0A'
const HTTPS_PORT = 443
const CURL = ['curl', '-sS', '--max-time', '15', '--cacert', '/etc/haproxy/test.pem']
const RESOLVE = ['--resolve', 'shop.example:443:127.0.0.1']

/** Only HAProxy may listen on an address that other hosts can reach. */
export async function checkPorts(machine: Machine): Promise<void> {
  const table = await machine.runChecked(['cat', '/proc/net/tcp', '/proc/net/tcp6'])
  const ports = publicPorts(table).filter((port) => port !== HTTPS_PORT)
  if (ports.length > 0) throw new Error(`other hosts can connect to the ports ${ports.join(', ')}`)
}

/** The ports that listen on other addresses than 127.0.0.0/8 and ::1, of the tables in /proc/net. */
export function publicPorts(table: string): number[] {
  const sockets = [...table.matchAll(/^ *\d+: ([\dA-F]+):([\dA-F]{4}) \S+ ([\dA-F]{2}) /gm)]
  const open = sockets.filter(
    ([, address = '', , state]) =>
      // The bytes of each group of 4 are in the order of the CPU.
      state === LISTENING && !/^(?:[\dA-F]{6}7F|0{24}01000000|0{16}FFFF0000[\dA-F]{6}7F)$/.test(address),
  )
  return [...new Set(open.map(([, , port = '']) => Number.parseInt(port, 16)))].toSorted((a, b) => a - b)
}

/** Files with passwords are readable for root only. */
export async function checkSettings(machine: Machine): Promise<void> {
  const folders = ['/etc/petstore', '/etc/pgbackrest/conf.d/passphrase.conf', '/etc/haproxy/certs']
  const readable = await machine.runChecked(['find', ...folders, '-perm', '/077'])
  if (readable !== '') throw new Error(`other users can read ${readable.trim().replaceAll('\n', ', ')}`)
}

/** All targets of Prometheus are up, and no alert fires. The restores and the power cuts may have caused alerts before. */
export async function checkAlerts(machine: Machine): Promise<void> {
  const metricsOf = async (expression: string) => {
    const url = `http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(expression)}`
    const text = await machine.runChecked(['curl', '-sS', '--max-time', '15', url])
    const { data } = JSON.parse(text) as { data: { result: { metric: Record<string, string> }[] } }
    return data.result.map(({ metric }) => metric)
  }
  let found = ''
  const isQuiet = async () => {
    const up = (await metricsOf('up == 1')).map(({ instance }) => instance)
    const firing = (await metricsOf('ALERTS{alertstate="firing"}')).map(({ alertname }) => alertname)
    found = `the targets ${up.join(', ')} are up, and these alerts fire: ${firing.join(', ')}`
    return up.length === TARGETS && firing.length === 0
  }
  await waitUntil('all targets, and no alert', ALERTS_TIMEOUT_MS, isQuiet, 1_000).catch((error: unknown) => {
    throw new Error(found, { cause: error })
  })
}

export interface Store {
  apiKey: string
  /** Adds a pet through HAProxy, and returns its id. */
  addPet: (name: string) => Promise<string>
  hasPet: (id: string) => Promise<boolean>
  /** The time of PostgreSQL. */
  now: () => Promise<string>
  /** Sends a request through HAProxy. `args` are arguments of curl. */
  request: (path: string, ...args: string[]) => Promise<{ body: string; status: number }>
}

/** Creates an API key. Without `scopes`, it has the default scopes. */
export async function openStore(machine: Machine, scopes: readonly string[] = []): Promise<Store> {
  const limits = scopes.length > 0 ? ['--scopes', scopes.join()] : []
  const key = (await machine.runChecked([ADMIN, 'api-keys', 'create', '--name', 'drill', ...limits])).trim()
  const request = async (path: string, ...args: string[]) => {
    const authorization = ['--header', `Authorization: Bearer ${key}`]
    const command = [...CURL, ...RESOLVE, ...authorization, '--write-out', '\n%{http_code}', ...args]
    const output = await machine.runChecked([...command, `${ORIGIN}${path}`])
    const [body = '', status = ''] = output.split(/\n(?=\d+$)/)
    return { body, status: Number(status) }
  }
  return {
    apiKey: key,
    addPet: async (name) => {
      const json = [
        '--header',
        'Content-Type: application/json',
        '--data',
        JSON.stringify({ name, categoryId: 1 }),
      ]
      const { body, status } = await request('/v1/pets', ...json)
      if (status !== 201) throw new Error(`a pet cannot be added: ${status} ${body}`)
      return String((JSON.parse(body) as { id: number }).id)
    },
    hasPet: async (id) => {
      const { body, status } = await request(`/v1/pets?id=${id}`)
      if (status !== 200) throw new Error(`pet ${id} cannot be read: ${status} ${body}`)
      return (JSON.parse(body) as unknown[]).length === 1
    },
    now: () => query(machine, 'select clock_timestamp()'),
    request,
  }
}

/** Waits until the archive has all WAL that is written now. It does not end the segment itself: archive_timeout must. */
export async function waitForArchive(machine: Machine): Promise<void> {
  const segment = await query(machine, 'select pg_walfile_name(pg_current_wal_lsn())')
  const archived = 'select last_archived_wal from pg_stat_archiver'
  await waitUntil(
    'the archive',
    ARCHIVE_TIMEOUT_MS,
    async () => (await query(machine, archived)) >= segment,
    500,
  )
}

async function query(machine: Machine, statement: string): Promise<string> {
  const psql = ['psql', '--no-psqlrc', '--tuples-only', '--no-align', `--command=${statement}`]
  return (await machine.runChecked(['runuser', '-u', 'postgres', '--', ...psql])).trim()
}

/** After the loss of power, the server starts the store by itself, with every acknowledged pet, and archives new ones. */
export async function checkPowerCut(machine: Machine, store: Store): Promise<void> {
  const id = await store.addPet('before the power cut')
  await machine.cutPower()
  await machine.start()
  await waitUntil('the store after the power cut', READY_TIMEOUT_MS, () =>
    store.hasPet(id).catch(() => false),
  )
  // PostgreSQL itself would begin to archive only minutes after a crash.
  await waitUntil('a new pet after the power cut', READY_TIMEOUT_MS, () =>
    store.addPet('after the power cut').then(
      () => true,
      () => false,
    ),
  )
  await waitForArchive(machine)
}
