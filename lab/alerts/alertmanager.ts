// Debian's Alertmanager, with the file of deploy/monitoring and the receiver of this run, in a folder of its own.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
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

/** The part of alertmanager.yaml that a run changes. */
interface Configuration {
  route: { group_wait: string }
  receivers: { webhook_configs: { url: string }[] }[]
}

/** alertmanager.yaml with another receiver. */
function configuration({ receiver, groupWaitSeconds }: AlertmanagerOptions): string {
  const changed = parse(readFileSync(join(MONITORING_FOLDER, 'alertmanager.yaml'), 'utf8')) as Configuration
  for (const webhook of changed.receivers.flatMap(({ webhook_configs }) => webhook_configs))
    webhook.url = new URL(new URL(webhook.url).pathname, receiver).href
  if (groupWaitSeconds !== undefined) changed.route.group_wait = `${groupWaitSeconds}s`
  return stringify(changed)
}
