// HAProxy with deploy/haproxy.cfg, as an operator runs it, in front of the instances of a test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../src/demo/cluster.ts'

export const HAPROXY_CONFIG = join(resolve(import.meta.dirname, '../..'), 'deploy/haproxy.cfg')
const START_TIMEOUT_MS = 120_000

export interface Ports {
  port: number
  adminPort: number
}

export interface LoadBalancer {
  origin: string
  /** Everything logged so far. */
  log: () => string
  stop: () => Promise<void>
}

export async function startLoadBalancer([one, two]: [Ports, Ports]): Promise<LoadBalancer> {
  const port = await freePort()
  const child = spawn('haproxy', ['-db', '-f', HAPROXY_CONFIG], {
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
  const giveUpAt = Date.now() + START_TIMEOUT_MS
  while (!(await listens(port))) {
    if (child.exitCode !== null || Date.now() > giveUpAt) throw new Error(`HAProxy did not start: ${text}`)
    await sleep(50)
  }
  return {
    origin: `http://127.0.0.1:${port}`,
    log: () => text,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
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
