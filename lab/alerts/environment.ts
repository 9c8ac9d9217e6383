// One environment of the alert drill: a store of its own, from PostgreSQL to the receiver of the notifications, under load.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { PetstoreProcess } from '../parts/petstore-process.ts'
import { startProxy, type TcpProxy } from '../parts/tcp-proxy.ts'
import { waitUntil } from '../parts/wait-until.ts'
import { startAlertmanager } from './alertmanager.ts'
import { type Certificates, prepareCertificates } from './certificates.ts'
import { preparePetstore, runPetstore, startAndWait } from './petstore-process.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Servers, startServers } from './servers.ts'
import { create, startSteadyLoad, type SteadyLoad, type Store } from './steady-load.ts'
import { type Template, urlAs } from './template.ts'

const SCRAPED_TIMEOUT_MS = 120_000
const SCRAPED_POLL_MS = 500

/** What a fault needs in addition to a primary and one instance. */
export interface Needs {
  /** Streaming standbys. The primary waits for one of them. */
  standbys?: number
  tls?: boolean
  /** Of the primary. */
  settings?: Record<string, string>
  /** A proxy between `petstore serve` and PostgreSQL that can delay responses. */
  slowNetwork?: boolean
  /** A file that Node loads before `petstore serve`. */
  preload?: string
}

export interface EnvironmentOptions {
  folder: string
  template: Template
  needs: Needs
  /** See PrometheusOptions and AlertmanagerOptions. */
  intervalSeconds?: number | undefined
  groupWaitSeconds?: number | undefined
}

export interface Environment {
  store: Store
  servers: Servers
  serve: PetstoreProcess
  deliver: PetstoreProcess
  prometheus: Prometheus
  receiver: Receiver
  load: SteadyLoad
  /** Undefined without TLS. */
  certificates: Certificates | undefined
  /** Undefined unless the fault needs it. */
  network: TcpProxy | undefined
  /** Runs a command of the service with this role of the database; fails if it exits with another code. */
  run: (role: string, args: string[], expectedCode?: number, databaseUrl?: string) => Promise<string>
  close: () => Promise<void>
}

const openEnvironments = new Set<() => Promise<void>>()
let isInterrupted = false

/** Ends the processes of all environments, for a drill that is interrupted. No other environment can be opened then. */
export async function closeEnvironments(): Promise<void> {
  isInterrupted = true
  await Promise.all([...openEnvironments].map((close) => close()))
}

/** Starts everything, and waits until Prometheus has scraped both processes. */
export async function openEnvironment(options: EnvironmentOptions): Promise<Environment> {
  if (isInterrupted) throw new Error('the drill was interrupted')
  // Ends the last part first, and all of them even if one fails to end.
  const started = new AsyncDisposableStack()
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    openEnvironments.delete(close)
    closing ??= started.disposeAsync()
    return closing
  }
  openEnvironments.add(close)
  try {
    const onClose = (work: () => Promise<unknown>) => started.defer(async () => void (await work()))
    return { ...(await start(options, onClose)), close }
  } catch (error) {
    await close()
    throw error
  }
}

type OnClose = (work: () => Promise<unknown>) => void

async function start(options: EnvironmentOptions, onClose: OnClose): Promise<Omit<Environment, 'close'>> {
  mkdirSync(options.folder, { recursive: true })
  const database = await startDatabase(options, onClose)
  const { servers, certificates, network, urlOf } = database
  const processes = await startProcesses(options, database, onClose)
  const receiver = await openReceiver()
  onClose(receiver.close)
  const store = { origin: processes.serve.origin, apiKey: options.template.apiKey }
  await create(store, '/webhooks', { url: receiver.webhookUrl })
  const load = startSteadyLoad(store)
  onClose(load.stop)
  const prometheus = await startMonitoring(options, processes, receiver, onClose)
  return {
    store,
    servers,
    ...processes,
    prometheus,
    receiver,
    load,
    certificates,
    network,
    run: (role, args, expectedCode, databaseUrl = urlOf(role)) =>
      runPetstore(args, { DATABASE_URL: databaseUrl, RECORD_DATABASE_URL: urlOf(role) }, expectedCode),
  }
}

async function startDatabase({ folder, template, needs }: EnvironmentOptions, onClose: OnClose) {
  const certificates = needs.tls ? prepareCertificates(folder, template) : undefined
  const servers = await startServers({
    folder,
    template,
    standbys: needs.standbys ?? 0,
    settings: { ...needs.settings, ...certificates?.settings },
  })
  onClose(servers.stop)
  const parameters = certificates ? '?sslmode=require' : ''
  const urlOf = (role: string, port = servers.primary.port) => urlAs(role, port, parameters)
  const network = needs.slowNetwork ? await startProxy(urlOf('petstore_app')) : undefined
  if (network) onClose(() => network.close())
  return { servers, certificates, network, urlOf }
}

type Processes = Pick<Environment, 'serve' | 'deliver'>

async function startProcesses(
  { folder, needs }: EnvironmentOptions,
  { urlOf, network }: Awaited<ReturnType<typeof startDatabase>>,
  onClose: OnClose,
): Promise<Processes> {
  const networks = { WEBHOOK_NETWORKS: '127.0.0.0/8' }
  const serve = await preparePetstore('serve', {
    folder,
    environment: {
      DATABASE_URL: urlOf('petstore_app', network?.port),
      ...networks,
    },
    preload: needs.preload,
  })
  const deliver = await preparePetstore('deliver', {
    folder,
    environment: { DATABASE_URL: urlOf('petstore_deliver'), ...networks },
  })
  onClose(() => Promise.all([serve.kill(), deliver.kill()]))
  await Promise.all([startAndWait(serve), startAndWait(deliver)])
  return { serve, deliver }
}

/** Starts Alertmanager and Prometheus, and waits until Prometheus has scraped both processes. */
async function startMonitoring(
  { folder, intervalSeconds, groupWaitSeconds }: EnvironmentOptions,
  { serve, deliver }: Processes,
  receiver: Receiver,
  onClose: OnClose,
): Promise<Prometheus> {
  const alertmanager = await startAlertmanager({
    folder,
    receiver: receiver.origin,
    ...(groupWaitSeconds !== undefined && { groupWaitSeconds }),
  })
  onClose(alertmanager.stop)
  const prometheus = await startPrometheus({
    folder,
    targets: { petstore: [serve.admin], 'petstore-deliver': [deliver.admin] },
    alertmanager: alertmanager.address,
    ...(intervalSeconds !== undefined && { intervalSeconds }),
  })
  onClose(async () => {
    await prometheus.stop()
    for (const name of ['prometheus-data', 'alertmanager-data'])
      rmSync(join(folder, name), { recursive: true, force: true })
  })
  const isScraped = async () => (await prometheus.query('up == 1')).length === 2
  await waitUntil('both processes are scraped', SCRAPED_TIMEOUT_MS, isScraped, SCRAPED_POLL_MS)
  return prometheus
}
