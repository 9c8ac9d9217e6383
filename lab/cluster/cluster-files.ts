// Writes the configuration of the cluster with the files and scripts that operators use, deploy/ha, inside the root.
// Only the values of cluster.env differ. Starts nothing.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { Tls } from '../parts/https.ts'
import { runChecked } from '../parts/processes.ts'
import { ROOT_ENVIRONMENT, type Root } from './root-mounts.ts'

const SOURCE = resolve(import.meta.dirname, '../../deploy/ha')
/** Inside the root. */
const FOLDER = '/srv/ha'
export const SUPERUSER_PASSWORD = 'drill-superuser-password'
const REPLICATION_PASSWORD = 'drill-replication-password'
export const APP_PASSWORD = 'drill-app-password'

export interface ClusterMember {
  name: string
  address: string
}

/** Copies deploy/ha into the root, and makes the certificates. */
export async function installClusterFiles(root: Root, members: readonly ClusterMember[]): Promise<void> {
  // An operator may have filled in a cluster in the checkout.
  const isOurs = (path: string) => !['certificates', 'cluster.env'].includes(basename(path))
  await cp(SOURCE, root.path(FOLDER), { recursive: true, filter: isOurs })
  await writeValues(root, 'cluster.env', members, {})
  await runScript(root, ['make-certificates'])
}

/** Runs `configure` for a node or `haproxy`, and writes the files into a folder inside the root. */
export async function configureHost(
  root: Root,
  members: readonly ClusterMember[],
  { host, folder, values }: { host: string; folder: string; values: Record<string, string> },
): Promise<void> {
  const file = `${host}.env`
  await writeValues(root, file, members, values)
  await runScript(root, ['configure', '--env', `${FOLDER}/${file}`, host, folder])
}

/** Replaces text that must occur exactly once in a file inside the root. */
export async function replaceInFile(root: Root, inside: string, from: string, to: string): Promise<void> {
  const parts = (await readFile(root.path(inside), 'utf8')).split(from)
  if (parts.length !== 2) throw new Error(`${inside} has "${from}" ${parts.length - 1} times, not once.`)
  await writeFile(root.path(inside), parts.join(to))
}

/** The certificate of a node, which lets the drill control Patroni and read etcd. */
export async function readTls(root: Root, name: string): Promise<Tls> {
  const read = (file: string) => readFile(root.path(`${FOLDER}/certificates/${file}`), 'utf8')
  const [ca, cert, key] = await Promise.all([read('ca.pem'), read(`${name}.pem`), read(`${name}.key`)])
  return { ca, cert, key }
}

async function writeValues(
  root: Root,
  file: string,
  members: readonly ClusterMember[],
  values: Record<string, string>,
): Promise<void> {
  const nodes = members.map(({ name, address }, index) => [
    `NODE${index + 1}_NAME=${name}`,
    `NODE${index + 1}_ADDRESS=${address}`,
  ])
  const others = Object.entries({ ...VALUES, ...values }).map(([name, value]) => `${name}=${value}`)
  await writeFile(root.path(`${FOLDER}/${file}`), `${[...nodes.flat(), ...others].join('\n')}\n`)
}

const VALUES = {
  // The data volume is small, and in memory.
  SHARED_BUFFERS: '128MB',
  MAX_WAL_SIZE: '256MB',
  WAL_KEEP_SIZE: '128MB',
  SLOT_WAL_MAX: '256MB',
  WATCHDOG: 'off',
  SUPERUSER_PASSWORD,
  REPLICATION_PASSWORD,
  REWIND_PASSWORD: 'drill-rewind-password',
  HAPROXY_LISTEN: '127.0.0.1',
  HAPROXY_PORT: '5000',
}

function runScript(root: Root, [script, ...args]: [string, ...string[]]): Promise<string> {
  return runChecked('chroot', root.command('root', ['sh', `${FOLDER}/${script}`, ...args]), {
    env: ROOT_ENVIRONMENT,
  })
}
