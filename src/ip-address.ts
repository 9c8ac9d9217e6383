// IP addresses in text: whether it is one, and which network it is in.
import { isIP, isIPv4 } from 'node:net'

const MAPPED_IPV4 = '::ffff:'

/** A zone, as in `fe80::1%eth0`, means something only on its own machine. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%')
}

/** An address, or one with the length of its prefix: at least 1, because the range of all addresses means nothing. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...others] = text.split('/')
  const prefixMax = isIPv4(address) ? 32 : 128
  const isPrefix = prefix === undefined || (/^[1-9][0-9]{0,2}$/.test(prefix) && Number(prefix) <= prefixMax)
  return isAddress(address) && isPrefix && others.length === 0
}

/** `10.0.0.1` for `::ffff:10.0.0.1`, which a socket for both versions of IP reports. */
export function withoutMapping(address: string): string {
  const mapped = address.startsWith(MAPPED_IPV4) ? address.slice(MAPPED_IPV4.length) : ''
  return isIPv4(mapped) ? mapped : address
}

/** The network of one client: an IPv4 address, or the first 64 bits of an IPv6 address, which a client has to itself. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  const [before = '', after] = address.split('::')
  const first = before === '' ? [] : before.split(':')
  const last = after === undefined || after === '' ? [] : after.split(':')
  // An address that ends in the form of IPv4 has two groups there.
  const length = first.length + last.length + (address.includes('.') ? 1 : 0)
  const groups = after === undefined ? first : [...first, ...Array<string>(8 - length).fill('0'), ...last]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
