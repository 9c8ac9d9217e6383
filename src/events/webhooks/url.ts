// Checks the URL of a webhook when a caller sets it. Resolves no names: the sender checks the addresses of a name each time
// it connects.
import { isAddress } from '../../values/ip-address.ts'
import type { AddressRule } from './addresses.ts'
import { URL_LENGTH_MAX } from './rules.ts'

/** Names that never belong to a public host. Names without a dot are local too. */
const LOCAL_NAME = /^[^.]+$|\.(localhost|local|internal)$/

/** Returns what is wrong with the URL and what to do, as a sentence without a subject, or undefined. */
export function urlFault(text: string, rule: AddressRule): string | undefined {
  if (text.length > URL_LENGTH_MAX) return `must have at most ${URL_LENGTH_MAX} characters.`
  const schemes = rule.allowsHttp ? 'https: or http:' : 'https:'
  const url = parseAbsolute(text)
  if (url === undefined) return `must be an absolute ${schemes} URL, such as https://shop.example/webhooks.`
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rule.allowsHttp)) {
    return `must start with ${schemes}, because webhooks are not sent over other protocols.`
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) {
    return 'must not contain a user name or a password; check the signature of the webhook instead.'
  }
  if (text.includes('#')) return 'must not contain a fragment; remove "#" and the text after it.'
  if (url.port === '0') return 'must not contain the port 0; use the port on which the receiver listens.'
  return hostFault(url, rule)
}

/** The parser of URLs also accepts `https:host`, backslashes, and blanks, which it removes. These are mistakes or attacks. */
function parseAbsolute(text: string): URL | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(text) || /[\s\\\p{Cc}]/u.test(text)) return undefined
  return URL.canParse(text) ? new URL(text) : undefined
}

/** The parser of URLs has already turned disguised IPv4 addresses, such as 127.1 or 0x7f000001, into the usual form. */
function hostFault({ hostname, protocol }: URL, rule: AddressRule): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  if (isAddress(address)) {
    if (rule.allows(address, protocol)) return undefined
    return rule.allows(address, 'https:')
      ? 'must start with https:, because http: is only allowed for the networks that the operator has listed.'
      : 'must not contain a private or reserved IP address; use the public name of the receiver.'
  }
  const name = hostname.replace(/\.$/, '')
  if (name.split('.').includes('')) return 'must contain a valid host name, such as shop.example.'
  if (LOCAL_NAME.test(name) && !rule.allowsHttp) {
    return 'must not contain a local host name; use the public name of the receiver.'
  }
  return undefined
}
