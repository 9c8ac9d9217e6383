// The processes between clients and PostgreSQL: HAProxy in front of the service, HAProxy and PgBouncer in front of
// PostgreSQL. All run in the namespace of the drill.
import { join, resolve } from 'node:path'
import { type Daemon, startDaemon } from './processes.ts'
import { ROOT_ENVIRONMENT, type Root } from './root-mounts.ts'

/** The configuration that operators use, unchanged. Its defaults are the ports of the two instances. */
const SERVICE_HAPROXY = resolve(import.meta.dirname, '../deploy/haproxy.cfg')
export const SERVICE_URL = 'http://127.0.0.1:8080'
/** HAProxy, which forwards to the primary. */
export const HAPROXY_ADDRESS = '127.0.0.1:5000'
export const PGBOUNCER_ADDRESS = '127.0.0.1:6432'

export async function startServiceHaproxy(root: Root, logFolder: string): Promise<Daemon> {
  await root.copyIn(SERVICE_HAPROXY, '/srv/service-haproxy.cfg')
  return startInRoot('service-haproxy', 'root', haproxy('/srv/service-haproxy.cfg'), root, logFolder)
}

export async function startPostgresHaproxy(
  root: Root,
  logFolder: string,
  [address1 = '', address2 = '', address3 = '']: string[],
): Promise<Daemon> {
  const config = '/srv/postgres-haproxy.cfg'
  await root.writeConfig('postgres-haproxy.cfg', config, { address1, address2, address3 })
  return startInRoot('postgres-haproxy', 'root', haproxy(config), root, logFolder)
}

export async function startPgbouncer(root: Root, logFolder: string, appPassword: string): Promise<Daemon> {
  await root.writeConfig('pgbouncer.ini', '/srv/pgbouncer.ini', {})
  await root.writeConfig('pgbouncer-users.txt', '/srv/pgbouncer-users.txt', { appPassword })
  return startInRoot('pgbouncer', 'postgres', ['pgbouncer', '/srv/pgbouncer.ini'], root, logFolder)
}

/** -db keeps HAProxy in the foreground. */
function haproxy(config: string): string[] {
  return ['haproxy', '-db', '-f', config]
}

function startInRoot(
  name: string,
  user: 'postgres' | 'root',
  command: string[],
  root: Root,
  logFolder: string,
): Promise<Daemon> {
  return startDaemon('chroot', root.command(user, command), {
    logFile: join(logFolder, `${name}.log`),
    env: ROOT_ENVIRONMENT,
  })
}
