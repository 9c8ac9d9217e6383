// IP addresses as text: validates them and derives the network of a client.
import { isIP, isIPv4 } from 'node:net'

const MAPPED_IPV4 = '::ffff:'

/** Returns false for addresses with a zone, such as `fe80::1%eth0`, because a zone is valid only on its own host. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%')
}

/** Accepts an address, optionally with a prefix length. Rejects the length 0, which would match every address. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...others] = text.split('/')
  const prefixMax = isIPv4(address) ? 32 : 128
  const isPrefix = prefix === undefined || (/^[1-9][0-9]{0,2}$/.test(prefix) && Number(prefix) <= prefixMax)
  return isAddress(address) && isPrefix && others.length === 0
}

/** Returns `10.0.0.1` for `::ffff:10.0.0.1`, the form that a dual-stack socket reports. */
export function withoutMapping(address: string): string {
  const mapped = address.startsWith(MAPPED_IPV4) ? address.slice(MAPPED_IPV4.length) : ''
  return isIPv4(mapped) ? mapped : address
}

/** Returns an IPv4 address, or the /64 prefix of an IPv6 address, because one client can use a whole /64. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  const [before = '', after] = address.split('::')
  const first = before === '' ? [] : before.split(':')
  const last = after === undefined || after === '' ? [] : after.split(':')
  // An embedded IPv4 address, as in `::ffff:10.0.0.1`, counts as two groups.
  const length = first.length + last.length + (address.includes('.') ? 1 : 0)
  const groups = after === undefined ? first : [...first, ...Array<string>(8 - length).fill('0'), ...last]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

/** Whether the host of a URL is this host. A URL writes IPv6 addresses in brackets. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
