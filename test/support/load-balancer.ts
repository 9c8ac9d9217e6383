// HAProxy with deploy/haproxy.cfg, as an operator runs it, in front of the instances of a test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { freePort } from '../../src/data/demo/cluster.ts'
import { until } from './until.ts'

export const HAPROXY_CONFIG = join(resolve(import.meta.dirname, '../..'), 'deploy/haproxy.cfg')

export interface Ports {
  port: number
  adminPort: number
}

export interface LoadBalancer {
  origin: string
  /** Everything logged so far. */
  log: () => string
  /** Waits until HAProxy sends requests to both instances, or to none, and the latest check of each has confirmed it. */
  untilBoth: (state: 'up' | 'down') => Promise<void>
  stop: () => Promise<void>
}

export async function startLoadBalancer([one, two]: [Ports, Ports]): Promise<LoadBalancer> {
  const [port, statsPort] = [await freePort(), await freePort()]
  const folder = mkdtempSync(join(tmpdir(), 'petstore-haproxy-'))
  const statsConfig = join(folder, 'stats.cfg')
  writeFileSync(statsConfig, `global\n    stats socket 127.0.0.1:${statsPort} level user\n`)
  const child = spawn('haproxy', ['-db', '-f', HAPROXY_CONFIG, '-f', statsConfig], {
    env: {
      ...process.env,
      PETSTORE_BIND: `127.0.0.1:${port}`,
      PETSTORE_LOOPBACK: `abns@petstore-${port}`,
      PETSTORE_1: `127.0.0.1:${one.port}`,
      PETSTORE_1_ADMIN_PORT: String(one.adminPort),
      PETSTORE_2: `127.0.0.1:${two.port}`,
      PETSTORE_2_ADMIN_PORT: String(two.adminPort),
    },
  })
  const ended = once(child, 'close')
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  await until(() => {
    if (child.exitCode !== null) throw new Error(`HAProxy did not start: ${text}`)
    return listens(port)
  })
  return {
    origin: `http://127.0.0.1:${port}`,
    log: () => text,
    untilBoth: (state) =>
      until(async () => (await readStates(statsPort)).every((current) => current === state)),
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}

/** HAProxy counts down from this health with each failed check of an instance (`fall 3`, `rise 1`). */
const FULL_HEALTH = '3'

/** The states of both instances; `failing` if checks have failed, but too few of them. */
async function readStates(statsPort: number): Promise<string[]> {
  const socket = connect(statsPort, '127.0.0.1')
  socket.end('show servers state reads\n')
  const [, header = '', ...rows] = (await readText(socket)).trim().split('\n')
  // The header starts with a number sign.
  const names = header.split(' ').slice(1)
  return rows.map((row) => {
    const values = row.split(' ')
    const valueOf = (name: string) => values[names.indexOf(name)]
    if (valueOf('srv_op_state') === '0') return 'down'
    return valueOf('srv_check_health') === FULL_HEALTH ? 'up' : 'failing'
  })
}

export async function freePorts(): Promise<Ports> {
  return { port: await freePort(), adminPort: await freePort() }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
