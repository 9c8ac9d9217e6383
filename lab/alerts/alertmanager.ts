// Debian's Alertmanager, with the file of deploy/monitoring and the receiver of this run, in a folder of its own.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/data/demo/cluster.ts'
import { MONITORING_FOLDER } from './prometheus.ts'
import { startReadyDaemon } from './ready-daemon.ts'

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
  const file = join(folder, 'alertmanager.yaml')
  writeFileSync(file, configuration(options))
  const stop = await startReadyDaemon({
    name: 'Alertmanager',
    command: 'prometheus-alertmanager',
    args: [
      `--config.file=${file}`,
      `--storage.path=${join(folder, 'alertmanager-data')}`,
      `--web.listen-address=${address}`,
      // One Alertmanager needs no port for others.
      '--cluster.listen-address=',
    ],
    logFile: join(folder, 'alertmanager.log'),
    url: `http://${address}`,
  })
  return { address, stop }
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
