// Starts `npm run dev`: the service as the reader of a guide has it, with its settings, demo pets and API key.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { freePort } from '../../src/data/demo/cluster.ts'
import { lineRecorder } from './recording.ts'
import { cleanEnvironment } from './service.ts'

const DEV = resolve(import.meta.dirname, '../../dev/dev.ts')
/** Stops all processes of `npm run dev` when the test process ends, even if that is killed. */
const STOP_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  "process.on('disconnect', () => process.kill(process.pid, 'SIGTERM')); process.channel?.unref()",
)}`

export interface DevService {
  origin: string
  adminOrigin: string
  databaseUrl: string
  apiKey: string
  /** Everything that it has printed, including the log of the service. */
  output: () => string
  stop: () => Promise<void>
}

/** A new folder for the data, which the user of PostgreSQL can enter. */
export const newDataFolder = () => join('/var/tmp', `petstore-test-${crypto.randomUUID()}`)

/** Runs the program with these options until it ends. Returns its exit code and output. */
export async function runDev(args: string[]): Promise<{ code: number | null; output: string }> {
  const { ended, output } = await spawnDev(args)
  return { code: await ended, output: output() }
}

/** Starts the program with these options, and waits for the addresses that it prints. */
export async function startDev(args: string[]): Promise<DevService> {
  const { child, ended, output, printed } = await spawnDev(args)
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  const isReady = await Promise.race([printed(/^ {2}Data .*\n/m), ended.then(() => false)])
  if (!isReady) throw new Error(`npm run dev ended:\n${output()}`)
  const valueOf = (name: string) => new RegExp(`^ {2}${name} +(\\S+)$`, 'm').exec(output())?.[1] ?? ''
  return {
    origin: new URL(valueOf('Console')).origin,
    adminOrigin: new URL(valueOf('Metrics')).origin,
    databaseUrl: valueOf('Database'),
    apiKey: valueOf('API key'),
    output,
    stop,
  }
}

async function spawnDev(args: string[]) {
  const ports = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) }
  const child = spawn(process.execPath, ['--import', STOP_WITH_PARENT, DEV, ...args], {
    env: cleanEnvironment(ports),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const recordLines = lineRecorder(`dev ${child.pid}: `)
  let text = ''
  let onText = () => {}
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      recordLines(chunk)
      onText()
    })
  }
  /** Resolves when the output matches. */
  const printed = (pattern: RegExp) =>
    new Promise<true>((resolvePrinted) => {
      onText = () => {
        if (pattern.test(text)) resolvePrinted(true)
      }
      onText()
    })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, ended, output: () => text, printed }
}
