// Decides which IP addresses webhooks can be sent to. Callers choose the URLs, so an address must be public unless the
// operator has allowed its network. Resolves no names and opens no connections.
import ipaddr from 'ipaddr.js'
import { isIn, type Network, parseAddress, parseNetwork } from '../../values/ip-address.ts'

/** The range from which public IPv6 addresses are allocated. ipaddr.js calls everything that it does not know unicast. */
const PUBLIC_IPV6 = ipaddr.parseCIDR('2000::/3')

/** The metadata service of Azure. The other metadata services have link-local, private or reserved addresses. */
const AZURE_METADATA = '168.63.129.16'

export interface AddressRule {
  /** Whether the operator has allowed networks. Only then can `http:` URLs and local host names be used. */
  readonly allowsHttp: boolean
  /** `protocol` is that of a URL, such as `https:`. */
  allows(address: string, protocol: string): boolean
}

/** Returns false for text that is no IP address, and for an address with a zone. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text)
  if (address?.range() !== 'unicast') return false
  return address.kind() === 'ipv4' ? text !== AZURE_METADATA : isIn(address, PUBLIC_IPV6)
}

/**
 * Allows public addresses over HTTPS, and the addresses of `allowedNetworks`, such as `10.0.0.0/8` or `::1`, over HTTPS and
 * HTTP. An IPv4-mapped address, such as `::ffff:10.0.0.1`, is never allowed, even if the network of its IPv4 address is:
 * no real receiver needs this form, and a check that accepts two forms of an address is easier to bypass.
 */
export function addressRule(allowedNetworks: readonly string[]): AddressRule {
  const networks = allowedNetworks.map(requireNetwork)
  return {
    allowsHttp: networks.length > 0,
    allows(text, protocol) {
      const address = parseAddress(text)
      if (address === undefined || !['http:', 'https:'].includes(protocol)) return false
      if (address.range() === 'ipv4Mapped') return false
      if (networks.some((network) => isIn(address, network))) return true
      return protocol === 'https:' && isPublicAddress(text)
    },
  }
}

function requireNetwork(text: string): Network {
  const network = parseNetwork(text)
  if (network !== undefined) return network
  throw new RangeError(`"${text}" is not an IP address or a range such as 10.0.0.0/8`)
}
