// Debian's Alertmanager, with the file of deploy/monitoring and the receiver of this run, in a folder of its own.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/demo/cluster.ts'
import { startDaemon, waitUntil } from '../processes.ts'
import { MONITORING_FOLDER } from './prometheus.ts'

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 10_000

export interface AlertmanagerOptions {
  /** Gets the configuration, the data and the log. */
  folder: string
  /** Origin of the HTTP server that gets the notifications, at the paths of alertmanager.yaml. */
  receiver: string
  /** Seconds from the first alert of a group to its notification. The default is that of alertmanager.yaml. */
  groupWaitSeconds?: number
}

export interface Alertmanager {
  /** Host and port, for Prometheus. */
  address: string
  stop: () => Promise<void>
}

export async function startAlertmanager(options: AlertmanagerOptions): Promise<Alertmanager> {
  const { folder } = options
  const address = `127.0.0.1:${await freePort()}`
  const [file, log] = [join(folder, 'alertmanager.yaml'), join(folder, 'alertmanager.log')]
  writeFileSync(file, configuration(options))
  const daemon = await startDaemon(
    'prometheus-alertmanager',
    [
      `--config.file=${file}`,
      `--storage.path=${join(folder, 'alertmanager-data')}`,
      `--web.listen-address=${address}`,
      // One Alertmanager needs no port for others.
      '--cluster.listen-address=',
    ],
    { logFile: log, env: {} },
  )
  await waitUntil(`Alertmanager is ready (${log})`, START_TIMEOUT_MS, async () => {
    if (!daemon.running) throw new Error(`Alertmanager exited: ${readFileSync(log, 'utf8')}`)
    return isReady(address)
  })
  return { address, stop: () => daemon.stop('SIGTERM', STOP_TIMEOUT_MS) }
}

/** alertmanager.yaml with another receiver. */
function configuration({ receiver, groupWaitSeconds }: AlertmanagerOptions): string {
  let text = readFileSync(join(MONITORING_FOLDER, 'alertmanager.yaml'), 'utf8')
  const replace = (pattern: RegExp, replacement: string) => {
    if (!pattern.test(text)) throw new Error(`alertmanager.yaml has no ${pattern}`)
    text = text.replace(pattern, replacement)
  }
  replace(/url: http:\/\/[^/\n]+\//g, `url: ${receiver}/`)
  if (groupWaitSeconds !== undefined) replace(/group_wait: \d+s/, `group_wait: ${groupWaitSeconds}s`)
  return text
}

async function isReady(address: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    return (await fetch(`http://${address}/-/ready`, { signal })).ok
  } catch {
    return false
  }
}
