// PgBouncer in front of a test database. TEST_PGBOUNCER selects another executable than that of the system.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort, isReachable } from '../../src/data/demo/cluster.ts'
import { APPLICATION, asSuperuser, DELIVERY, OWNER } from './roles.ts'
import { until } from './until.ts'

const EXECUTABLE = process.env['TEST_PGBOUNCER'] ?? 'pgbouncer'

/** Such as `1.18.0`; undefined if PgBouncer is not installed. */
export const PGBOUNCER_VERSION = /^PgBouncer (\S+)/.exec(
  String(spawnSync(EXECUTABLE, ['--version']).stdout),
)?.[1]

/** PgBouncer 1.21 has introduced max_prepared_statements. */
export const SUPPORTS_STATEMENTS = Number(PGBOUNCER_VERSION?.split('.')[1] ?? 0) >= 21

if (PGBOUNCER_VERSION === undefined) console.warn('Tests of PgBouncer are skipped: install pgbouncer.')

/** Starts PgBouncer until the test ends. Returns the URL of the same database and role through it. */
export async function startPgBouncer(
  databaseUrl: string,
  settings: Record<string, string> = {},
): Promise<string> {
  const target = new URL(databaseUrl)
  const database = target.pathname.slice(1)
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'petstore-pgbouncer-'))
  chmodSync(folder, 0o755)
  const users = join(folder, 'users.txt')
  writeFileSync(users, [APPLICATION, DELIVERY, OWNER, 'postgres'].map((role) => `"${role}" ""\n`).join(''))
  const lines = Object.entries({
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: users,
    pool_mode: 'transaction',
    // The timeouts of the tests; see in-process.ts.
    ignore_startup_parameters: 'options',
    ...settings,
  }).map(([name, value]) => `${name} = ${value}\n`)
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]\n${database} = host=${target.hostname} port=${target.port}\n[pgbouncer]\n${lines.join('')}`,
  )
  // PgBouncer does not run as root.
  const asUser = userInfo().uid === 0 ? ['-u', 'postgres'] : []
  const child = spawn(EXECUTABLE, [...asUser, file], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true })
  })
  const url = Object.assign(new URL(databaseUrl), { port: String(port) }).href
  await until(() => {
    if (child.exitCode !== null) throw new Error(`PgBouncer exited with ${child.exitCode}`)
    return isReachable(asSuperuser(url))
  })
  return url
}
