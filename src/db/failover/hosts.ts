// Finds the primary among the hosts of DATABASE_URL, and follows it after a failover.
// Does not decide whether the primary is trusted; server-trust.ts does.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { hostOf, splitDatabaseUrl } from '../../config/database-url.ts'
import { openClient } from '../connection/pool.ts'
import { withTimeout } from '../connection/timeout.ts'
import { INCARNATION, isReplacedBy } from './incarnation.ts'

/** How often the service asks each host whether it is the primary. It notices a failover within about this time. */
const ASK_EVERY_MS = 500
const ASK_TIMEOUT_MS = 2_000

interface Host {
  url: string
  client?: Client | undefined
  /** Undefined unless the host is a primary and has responded to the last query. */
  incarnation?: string | undefined
}

export interface HostWatch {
  close: () => void
}

interface WatchOptions {
  urls: readonly string[]
  applicationName: string
  /** Called for the first primary found, for a newer timeline, and if another host replaces one that fails. */
  onPrimary: (url: string, incarnation: string) => void
  /** Called each time a host cannot be asked, for example because it rejects the password. */
  onFailure: (host: string, error: Error) => void
}

export function watchHosts({ urls, applicationName, onPrimary, onFailure }: WatchOptions): HostWatch {
  const hosts = urls.map((url): Host => ({ url }))
  const closing = new AbortController()
  /** The host that was reported last, and the incarnation that it had then. */
  let primary: { host: Host; incarnation: string } | undefined

  /** Reports the host if it is the first primary, or if it takes the place of the one that was reported last. */
  function follow(host: Host): void {
    const { url, incarnation } = host
    if (incarnation === undefined) return
    if (primary !== undefined) {
      // The host was the primary before the last failover, and may not know yet that it was replaced.
      if (isReplacedBy(incarnation, primary.incarnation)) return
      const isNewer = isReplacedBy(primary.incarnation, incarnation)
      // Several hosts can be load balancers in front of one primary. Use another one only if the current one fails.
      const hasFailed = host !== primary.host && primary.host.incarnation === undefined
      if (!isNewer && !hasFailed) return
    }
    primary = { host, incarnation }
    onPrimary(url, incarnation)
  }

  async function ask(host: Host): Promise<void> {
    try {
      host.client ??= await connectTo(host.url, applicationName)
      host.incarnation = await readIncarnation(host.client)
    } catch (error) {
      host.incarnation = undefined
      closeClient(host)
      if (!closing.signal.aborted) onFailure(hostOf(host.url), error as Error)
    }
  }

  async function watch(host: Host): Promise<void> {
    while (!closing.signal.aborted) {
      await ask(host)
      if (closing.signal.aborted) break
      follow(host)
      await sleep(ASK_EVERY_MS, undefined, { ref: false, signal: closing.signal }).catch(() => {})
    }
    closeClient(host)
  }

  for (const host of hosts) void watch(host)
  return { close: () => closing.abort() }
}

/** Opens a connection to the primary, outside the pool. With a single host, the host may also be a standby. */
export async function connectClient(databaseUrl: string, applicationName: string): Promise<Client> {
  const urls = splitDatabaseUrl(databaseUrl)
  if (urls.length === 1) return connectTo(urls[0] as string, applicationName)
  const hosts = await Promise.all(urls.map((url) => connectAndAsk(url, applicationName)))
  const incarnations = hosts.flatMap(({ incarnation }) => incarnation ?? [])
  // A former primary that a failover has replaced may not know yet that it was replaced.
  const primary = hosts.find(
    ({ incarnation }) =>
      incarnation !== undefined && !incarnations.some((other) => isReplacedBy(incarnation, other)),
  )
  for (const host of hosts) if (host !== primary) closeClient(host)
  if (primary?.client === undefined) {
    const states = hosts.map(({ url, state }) => `${hostOf(url)}: ${state}`)
    throw new Error(`none of the hosts is a primary: ${states.join('; ')}`)
  }
  return primary.client
}

export interface HostState {
  host: string
  /** `primary`, `standby`, or the reason why the host cannot be reached. */
  state: string
  isReachable: boolean
}

export async function readHostStates(databaseUrl: string, applicationName: string): Promise<HostState[]> {
  const urls = splitDatabaseUrl(databaseUrl)
  const hosts = await Promise.all(urls.map((url) => connectAndAsk(url, applicationName)))
  return hosts.map((host) => {
    const isReachable = host.client !== undefined
    closeClient(host)
    return { host: hostOf(host.url), state: host.state, isReachable }
  })
}

/** Never rejects. The caller closes the client, which is undefined if the host cannot be asked. */
async function connectAndAsk(url: string, applicationName: string): Promise<Host & { state: string }> {
  const host: Host = { url }
  try {
    host.client = await connectTo(url, applicationName)
    host.incarnation = await readIncarnation(host.client)
    return { ...host, state: host.incarnation === undefined ? 'standby' : 'primary' }
  } catch (error) {
    closeClient(host)
    return { ...host, state: (error as Error).message }
  }
}

async function connectTo(url: string, applicationName: string): Promise<Client> {
  const client = openClient(url, applicationName)
  try {
    await client.connect()
    return client
  } catch (error) {
    client.end().catch(() => {})
    throw error
  }
}

async function readIncarnation(client: Client): Promise<string | undefined> {
  const text = `select ${INCARNATION} as incarnation`
  const { rows } = await withTimeout(client.query<{ incarnation: string | null }>(text), ASK_TIMEOUT_MS)
  return rows[0]?.incarnation ?? undefined
}

/** Does not wait: a host that does not respond would delay the others. */
function closeClient(host: Host): void {
  host.client?.end().catch(() => {})
  host.client = undefined
}
