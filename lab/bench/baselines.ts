// Starts the servers that the service is compared with: the bare HTTP server, and the peer with its best pool size.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { say } from '../../src/cli/terminal/terminal.ts'
import { environmentWith } from '../../src/config/config.ts'
import { recordResponses, requireSameData, requireSameResponses } from './recordings.ts'
import { nodeFlags, type Server, type Setup, toServer, withRoleSettings } from './setup.ts'
import { runWrk } from './tools.ts'
import { wrkScript } from './workloads.ts'

const CONNECTIONS = 64
const TRIAL_SECONDS = 1

/** Starts bare-server.ts with recorded responses of the service. */
export async function startBareServer({ on, apiKey }: Setup, pets: number): Promise<Server> {
  const recordings = await recordResponses(on.origin, apiKey, pets)
  const server = await startServer('bare-server.ts', [], recordings)
  await orStop(server, requireSameResponses(on.origin, server.origin, apiKey, pets))
  return server
}

export interface Peer extends Server {
  /** Database connections; the best of the sizes that were tried. */
  poolSize: number
}

/** Starts peers/express.ts with the pool size that gives the most gets per second. */
export async function startExpress(setup: Setup, pets: number, poolSizes: number[]): Promise<Peer> {
  const tried: { perSecond: number; poolSize: number }[] = []
  if (poolSizes.length > 1) {
    for (const poolSize of poolSizes) {
      tried.push({ poolSize, perSecond: await tryPoolSize(setup, pets, poolSize) })
    }
    const trials = tried.map(({ poolSize, perSecond }) => `${poolSize}: ${perSecond.toFixed(0)}/s`)
    say(`gets of Express by pool size: ${trials.join(', ')}`)
  }
  const [best] = tried.sort((a, b) => b.perSecond - a.perSecond)
  const poolSize = best?.poolSize ?? poolSizes[0] ?? 1
  const server = await startWithPool(setup, poolSize)
  await orStop(server, requireSameData(setup.on.origin, server.origin, setup.apiKey, pets))
  return { ...server, poolSize }
}

async function tryPoolSize(setup: Setup, pets: number, poolSize: number): Promise<number> {
  const server = await startWithPool(setup, poolSize)
  const script = wrkScript('get', pets, setup.apiKey, setup.folder)
  const run = () => runWrk(script, server.origin, CONNECTIONS, TRIAL_SECONDS, setup.folder)
  try {
    // The first run only warms up.
    await run()
    return (await run()).perSecond
  } finally {
    await server.stop()
  }
}

function startWithPool({ databaseUrl }: Setup, poolSize: number): Promise<Server> {
  return startServer('peers/express.ts', [withRoleSettings(databaseUrl), String(poolSize)])
}

/** Starts a server of this folder with the Node flags of the service. The server sends its origin when it listens. */
async function startServer(file: string, args: string[], message?: object): Promise<Server> {
  const child = spawn(process.execPath, [...nodeFlags(), join(import.meta.dirname, file), ...args], {
    env: environmentWith({ NODE_ENV: 'production' }),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  if (message !== undefined) child.send(message)
  const exited = once(child, 'exit').then(() => {
    throw new Error(`bench/${file} did not start`)
  })
  const [origin] = (await Promise.race([once(child, 'message'), exited])) as [string]
  return toServer(child, origin)
}

async function orStop(server: Server, check: Promise<void>): Promise<void> {
  try {
    await check
  } catch (error) {
    await server.stop()
    throw error
  }
}
