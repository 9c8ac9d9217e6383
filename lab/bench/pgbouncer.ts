// Starts PgBouncer in transaction mode in front of the PostgreSQL of a benchmark.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, isReachable } from '../../src/data/demo/cluster.ts'
import { waitUntil } from '../parts/wait-until.ts'
import { POOL_SIZE, type Server, type Store, toServer } from './setup.ts'

const START_TIMEOUT_MS = 10_000

/** `origin` is the URL of the database behind PgBouncer. */
export async function startPgBouncer(executable: string, { databaseUrl, folder }: Store): Promise<Server> {
  const { hostname, port, username, pathname } = new URL(databaseUrl)
  const listenPort = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  // Every user can connect: PgBouncer listens only on loopback, and the database contains only test data.
  writeFileSync(
    file,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} connect_query='set plan_cache_mode = force_generic_plan; set jit = off'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${POOL_SIZE}
max_client_conn = 500
max_prepared_statements = 200
; The service sends the settings of its role in this parameter; connect_query sets them instead.
ignore_startup_parameters = options
log_connections = 0
log_disconnections = 0
log_stats = 0
${process.getuid?.() === 0 ? 'user = postgres' : ''}
`,
  )
  const child = spawn(executable, ['-q', file], { stdio: ['ignore', 'ignore', 'inherit'] })
  const url = new URL(databaseUrl)
  url.port = String(listenPort)
  await waitUntil('PgBouncer accepts connections', START_TIMEOUT_MS, () => {
    if (child.exitCode !== null) throw new Error('PgBouncer did not start')
    return isReachable(url.href)
  })
  return toServer(child, url.href)
}
