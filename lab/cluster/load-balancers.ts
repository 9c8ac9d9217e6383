// The processes between clients and PostgreSQL: HAProxy in front of the service, and HAProxy in front of PostgreSQL. Both
// run in the namespace of the drill.
import { join, resolve } from 'node:path'
import { type Daemon, startDaemon } from '../parts/processes.ts'
import { type ClusterMember, configureHost } from './cluster-files.ts'
import { ROOT_ENVIRONMENT, type Root } from './root-mounts.ts'

/** The configuration that operators use, unchanged. Its defaults are the ports of the two instances. */
const SERVICE_HAPROXY = resolve(import.meta.dirname, '../../deploy/haproxy.cfg')
export const SERVICE_URL = 'http://127.0.0.1:8080'
/** HAProxy, which forwards to the primary. */
export const HAPROXY_ADDRESS = '127.0.0.1:5000'
/** The files of a host that runs the service, inside the root. */
const CLIENT_FOLDER = '/srv/client'
export const CA_FILE = `${CLIENT_FOLDER}/ca.pem`

export async function startServiceHaproxy(root: Root, logFolder: string): Promise<Daemon> {
  await root.copyIn(SERVICE_HAPROXY, '/srv/service-haproxy.cfg')
  return startInRoot('service-haproxy', haproxy('/srv/service-haproxy.cfg'), root, logFolder)
}

export async function startPostgresHaproxy(
  root: Root,
  logFolder: string,
  members: ClusterMember[],
): Promise<Daemon> {
  await configureHost(root, members, { host: 'haproxy', folder: CLIENT_FOLDER, values: {} })
  const command = haproxy(`${CLIENT_FOLDER}/postgres-haproxy.cfg`)
  return startInRoot('postgres-haproxy', command, root, logFolder)
}

/** -db keeps HAProxy in the foreground. */
function haproxy(config: string): string[] {
  return ['haproxy', '-db', '-f', config]
}

function startInRoot(name: string, command: string[], root: Root, logFolder: string): Promise<Daemon> {
  return startDaemon('chroot', root.command('root', command), {
    logFile: join(logFolder, `${name}.log`),
    env: ROOT_ENVIRONMENT,
  })
}
