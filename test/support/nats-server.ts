// A nats-server with JetStream, if it is installed, on a port and with a folder of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import { freePort } from '../../src/data/demo/cluster.ts'
import { until } from './until.ts'

/** Such as `2.9.10`; undefined if nats-server is not installed. */
export const NATS_VERSION = /: v(\S+)/.exec(String(spawnSync('nats-server', ['--version']).stdout))?.[1]

if (NATS_VERSION === undefined) console.warn('Tests of the NATS relay are skipped: install nats-server.')

export interface NatsServer {
  url: string
  /** Kills the server and starts it again with the same data. */
  killAndRestart: () => Promise<void>
  /** Kills the server and deletes its data. */
  stop: () => Promise<void>
}

export async function startNatsServer(): Promise<NatsServer> {
  const port = await freePort()
  const url = `nats://127.0.0.1:${port}`
  const folder = mkdtempSync(join(tmpdir(), 'petstore-nats-'))
  const args = ['--jetstream', '--store_dir', folder, '--addr', '127.0.0.1', '--port', String(port)]

  async function start(): Promise<ChildProcess> {
    const child = spawn('nats-server', args, { stdio: 'ignore' })
    await until(() => {
      if (child.exitCode !== null) throw new Error('nats-server did not start')
      return accepts(url)
    })
    return child
  }

  async function kill(child: ChildProcess): Promise<void> {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  let server = await start()
  return {
    url,
    killAndRestart: async () => {
      await kill(server)
      server = await start()
    },
    stop: async () => {
      await kill(server)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function accepts(url: string): Promise<boolean> {
  try {
    const connection = await connect({ servers: url, reconnect: false })
    await connection.close()
    return true
  } catch {
    return false
  }
}
