// The connections to the receivers of webhooks. Each one is checked twice: all addresses of the name before the connection
// is opened, and the address of the peer before a byte is sent.
import { Resolver } from 'node:dns/promises'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { callbackify } from 'node:util'
import type { AddressRule } from '../webhooks/addresses.ts'

/** An idle connection is closed after this time. A receiver can announce a shorter time in the header Keep-Alive. */
const IDLE_TIMEOUT_MS = 10_000
/** Max idle connections to all hosts together, for each protocol. */
export const IDLE_CONNECTIONS_MAX = 200
/** The first query of a name. The second one waits longer, up to DNS_TIMEOUT_MAX_MS. */
const DNS_TIMEOUT_MS = 2_000
const DNS_TIMEOUT_MAX_MS = 4_000
const DNS_TRIES = 2

/** Node tries the addresses one after the other. Without a limit, one name could make it connect to thousands of hosts. */
const ADDRESSES_PER_FAMILY_MAX = 4

/** Returns all addresses of a host name. */
export type Lookup = (hostname: string) => Promise<readonly string[]>

/** The reason why a connection was not opened. */
export class ConnectionFault extends Error {
  readonly reason: 'address_blocked' | 'dns_failed'

  constructor(reason: 'address_blocked' | 'dns_failed') {
    super(reason)
    this.reason = reason
  }
}

export interface Connections {
  /** Sends requests over idle connections if there are any, and keeps connections for later requests. */
  reusing: HttpAgent
  /** Opens a new connection for each request. */
  fresh: HttpAgent
}

/** An agent opens a connection only if none is idle, so it has as many as the max number of requests in flight. */
export function openConnections(
  protocol: 'http:' | 'https:',
  rule: AddressRule,
  lookup: Lookup,
  idleTimeoutMs: number = IDLE_TIMEOUT_MS,
): Connections {
  const checked = checkedLookup(lookup, rule, protocol)
  const open = (keepAlive: boolean) => {
    const options = { keepAlive, lookup: checked, timeout: idleTimeoutMs }
    const agent = protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
    const connect = agent.createConnection.bind(agent)
    agent.createConnection = (target, callback) => {
      const socket = connect(target, callback) as Socket
      checkPeer(socket, rule, protocol)
      return socket
    }
    limitIdle(agent)
    return agent
  }
  return { reusing: open(true), fresh: open(false) }
}

/** Node does not look up a host that is an IP address, so the sender checks such a host before it sends the request. */
export function isBlockedLiteral(host: string, rule: AddressRule, protocol: string): boolean {
  return isIP(host) !== 0 && !rule.allows(host, protocol)
}

/**
 * Checks the addresses to which Node then connects, so a second DNS response cannot replace them. One blocked address blocks
 * the name: a name with public and private addresses is an attack or a mistake. Using only its public addresses would hide
 * the mistake, and deliveries would depend on which addresses a DNS response happens to contain.
 */
function checkedLookup(lookup: Lookup, rule: AddressRule, protocol: string): LookupFunction {
  const findAllowed = callbackify(async (hostname: string) => {
    const addresses = await lookup(hostname).catch(() => [])
    if (addresses.length === 0) throw new ConnectionFault('dns_failed')
    if (!addresses.every((address) => rule.allows(address, protocol))) {
      throw new ConnectionFault('address_blocked')
    }
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    // IPv4 first, because many hosts have no route for IPv6.
    return [4, 6].flatMap((family) =>
      found.filter((entry) => entry.family === family).slice(0, ADDRESSES_PER_FAMILY_MAX),
    )
  })
  // Node asks for all addresses, unless it is configured to try only one address of a host.
  return (hostname, { all }, callback) =>
    findAllowed(hostname, (error, found) => {
      if (error !== null) callback(error, [])
      else if (all === true) callback(null, found)
      else callback(null, found[0]?.address ?? '', found[0]?.family)
    })
}

/**
 * The second check, in case the first one has a gap. It runs before the listeners that start the TLS handshake or send the
 * request, so the peer receives no byte.
 */
export function checkPeer(socket: Socket, rule: AddressRule, protocol: string): void {
  socket.prependOnceListener('connect', () => {
    const { remoteAddress } = socket
    // Without an address, the peer has already closed the connection.
    if (remoteAddress === undefined) socket.destroy()
    else if (!rule.allows(remoteAddress, protocol)) socket.destroy(new ConnectionFault('address_blocked'))
  })
}

/** The agent itself limits idle connections only for each host. */
function limitIdle(agent: HttpAgent): void {
  const keep = agent.keepSocketAlive.bind(agent) as (socket: unknown) => boolean
  agent.keepSocketAlive = (socket): boolean => {
    const idle = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0)
    return idle < IDLE_CONNECTIONS_MAX && keep(socket)
  }
}

/**
 * Asks the DNS servers without the threads of `dns.lookup`: four names whose servers do not respond would occupy all of
 * them, and block the deliveries to all other hosts. The hosts file is not read; only `localhost` has fixed addresses.
 */
export async function lookUpInDns(hostname: string): Promise<readonly string[]> {
  if (/^(.+\.)?localhost\.?$/i.test(hostname)) return ['127.0.0.1', '::1']
  // A new resolver reads the current servers of this host.
  const resolver = new Resolver({
    timeout: DNS_TIMEOUT_MS,
    maxTimeout: DNS_TIMEOUT_MAX_MS,
    tries: DNS_TRIES,
  })
  return resolveWith(resolver, hostname)
}

/** A failed query counts like one without addresses, because many name servers do not support IPv6. */
export async function resolveWith(resolver: Resolver, hostname: string): Promise<readonly string[]> {
  const responses = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  return responses.flatMap((response) => (response.status === 'fulfilled' ? response.value : []))
}
