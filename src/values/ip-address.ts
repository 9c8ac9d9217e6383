// IP addresses: parses their text with ipaddr.js, which knows their ranges, and derives the network of a client.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ReturnType<typeof ipaddr.parse>
/** The first address and the length of the prefix. */
export type Network = [Address, number]

/** Returns false for addresses with a zone, such as `fe80::1%eth0`, because a zone is valid only on its own host. */
export function isAddress(text: string): boolean {
  // ipaddr.js also accepts disguised addresses, such as `127.1` and `0x7f000001`.
  return isIP(text) !== 0 && !text.includes('%')
}

export function parseAddress(text: string): Address | undefined {
  return isAddress(text) ? ipaddr.parse(text) : undefined
}

/** Accepts an address, optionally with a prefix length. Rejects the length 0, which would match every address. */
export function parseNetwork(text: string): Network | undefined {
  const [start = '', prefix, ...others] = text.split('/')
  const address = parseAddress(start)
  if (address === undefined || others.length > 0) return undefined
  const prefixMax = address.kind() === 'ipv4' ? 32 : 128
  if (prefix === undefined) return [address, prefixMax]
  const isPrefix = /^[1-9][0-9]{0,2}$/.test(prefix) && Number(prefix) <= prefixMax
  return isPrefix ? [address, Number(prefix)] : undefined
}

/** ipaddr.js throws if the kinds differ. */
export function isIn(address: Address, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network)
}

/** Returns `10.0.0.1` for `::ffff:10.0.0.1`, the form that a dual-stack socket reports. */
export function withoutMapping(text: string): string {
  if (!text.includes(':') || !isAddress(text)) return text
  const address = ipaddr.IPv6.parse(text)
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : text
}

/** Returns an IPv4 address, or the /64 prefix of an IPv6 address, because one client can use a whole /64. */
export function networkOf(text: string): string {
  const address = text.replace(/%.*$/s, '')
  if (!ipaddr.IPv6.isValid(address)) return address
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, 4)
  return groups.map((group) => group.toString(16)).join(':')
}

/** Whether a host, as in a URL or without brackets, is this host. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || parseAddress(host.replace(/^\[(.*)\]$/, '$1'))?.range() === 'loopback'
}
