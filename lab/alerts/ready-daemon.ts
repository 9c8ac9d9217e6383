// Starts Prometheus or Alertmanager: a program that reports at /-/ready whether it is ready.
import { readFileSync } from 'node:fs'
import { startDaemon } from '../parts/processes.ts'
import { waitUntil } from '../parts/wait-until.ts'

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 10_000

interface ReadyDaemonOptions {
  /** For error messages. */
  name: string
  command: string
  args: string[]
  logFile: string
  /** Its origin. */
  url: string
}

/** Waits until the program is ready. Returns a function that stops it. */
export async function startReadyDaemon({
  name,
  command,
  args,
  logFile,
  url,
}: ReadyDaemonOptions): Promise<() => Promise<void>> {
  const daemon = await startDaemon(command, args, { logFile, env: {} })
  const stop = () => daemon.stop('SIGTERM', STOP_TIMEOUT_MS)
  try {
    await waitUntil(`${name} is ready (${logFile})`, START_TIMEOUT_MS, async () => {
      if (!daemon.running) throw new Error(`${name} exited: ${readFileSync(logFile, 'utf8')}`)
      return isReady(url)
    })
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/-/ready`, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })).ok
  } catch {
    return false
  }
}
