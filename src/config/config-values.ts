// Parses the values of settings. Checks only the form of each value.
// config.ts lists the settings by name.
import { parseRoleRules, type RoleRules } from '../contract/roles.ts'
import { isLoopbackHost, parseNetwork } from '../values/ip-address.ts'
import { isCurrency } from '../values/money.ts'
import { isTimeZone } from '../values/time-zone.ts'
import { splitDatabaseUrl } from './database-url.ts'

/** A setting. The documentation lists its help text. */
export interface Variable<Value> {
  help: string
  example?: string
  read: (text: string | undefined) => Value
}

/** The value of a setting is invalid. The message follows the name of the setting. */
export class Fault extends Error {}

export function integer(fallback: number, min: number, max: number) {
  return (text: string | undefined): number => {
    if (text === undefined) return fallback
    const value = Number(text)
    if (!/^[0-9]+$/.test(text) || value < min || value > max) {
      throw new Fault(`must be a whole number from ${min} to ${max}, not "${text}"`)
    }
    return value
  }
}

export function oneOf<const Choice extends string>(fallback: Choice, ...others: Choice[]) {
  const choices = [fallback, ...others]
  return (text: string | undefined): Choice => {
    if (text === undefined) return fallback
    const choice = choices.find((candidate) => candidate === text)
    if (choice === undefined) throw new Fault(`must be one of ${choices.join(', ')}, not "${text}"`)
    return choice
  }
}

/** The URL may contain a password, so the message does not quote it. */
export function readDatabaseUrl(text: string): string {
  try {
    splitDatabaseUrl(text)
  } catch (error) {
    throw new Fault((error as RangeError).message)
  }
  return text
}

/** Adds `/v1` to a URL that does not end with it, as the client does. The URL may contain a password, so the message does not quote it. */
export function readServiceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === ''
  if (!isPlain || !['http:', 'https:'].includes(url.protocol)) {
    throw new Fault(
      '(or --url) must be a URL such as https://api.petstore.example, without a password or a query',
    )
  }
  return `${url.origin}${url.pathname.replace(/(\/v1)?\/*$/, '')}/v1`
}

export function readPublicUrl(text: string | undefined): string {
  if (text === undefined) return ''
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.href !== `${url.origin}/`) {
    throw new Fault(`must be an origin such as https://api.petstore.example, without a path, not "${text}"`)
  }
  return url.origin
}

export function readOrigins(text: string | undefined): string[] {
  if (text === undefined) return []
  const origins = text.split(',').map((origin) => origin.trim())
  for (const origin of origins) {
    if (origin !== '*' && !(URL.canParse(origin) && new URL(origin).origin === origin)) {
      throw new Fault(`must be origins such as https://shop.example, or *; "${origin}" is not one`)
    }
  }
  return origins
}

/** Names of address ranges that Fastify's option `trustProxy` accepts. */
const RANGE_NAMES = ['loopback', 'linklocal', 'uniquelocal']

export function readProxies(text: string | undefined): string[] {
  if (text === undefined) return []
  const proxies = text.split(',').map((proxy) => proxy.trim())
  for (const proxy of proxies) {
    if (!RANGE_NAMES.includes(proxy) && parseNetwork(proxy) === undefined) {
      throw new Fault(
        `must be IP addresses or ranges such as 10.0.0.0/8, or ${RANGE_NAMES.join(', ')}; "${proxy}" is not one`,
      )
    }
  }
  return proxies
}

export function readNetworks(text: string | undefined): string[] {
  if (text === undefined) return []
  const networks = text.split(',').map((network) => network.trim())
  for (const network of networks) {
    if (parseNetwork(network) === undefined) {
      throw new Fault(`must be IP addresses or ranges such as 10.20.0.0/16; "${network}" is not one`)
    }
  }
  return networks
}

export function readCurrency(text: string | undefined): string | undefined {
  if (text !== undefined && !isCurrency(text))
    throw new Fault(`must be a code of ISO 4217 such as EUR, not "${text}"`)
  return text
}

/** PostgreSQL also has to know the name, which `petstore migrate` checks. */
export function readTimeZone(text: string | undefined): string | undefined {
  if (text !== undefined && !isTimeZone(text)) {
    throw new Fault(`must be the name of a time zone such as Europe/Berlin, not "${text}"`)
  }
  return text
}

export function readDelays(fallback: readonly number[]) {
  return (text: string | undefined): readonly number[] => {
    if (text === undefined) return fallback
    const delays = text.split(',').map((delay) => delay.trim())
    const isValid = (delay: string) =>
      /^[0-9]{1,5}$/.test(delay) && Number(delay) > 0 && Number(delay) <= 86_400
    if (delays.length > 20 || !delays.every(isValid)) {
      throw new Fault(`must be 1 to 20 whole numbers from 1 to 86400, separated by commas, not "${text}"`)
    }
    return delays.map(Number)
  }
}

/** Issuers of Entra ID that admit people of every organisation. Their administrators could give themselves any role. */
const SHARED_TENANTS = /^\/(common|organizations|consumers)\//

/** Requires `https:`, except for a provider on this host, for development. The issuer must match its documents exactly. */
export function readIssuer(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === ''
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))
  if (!isPlain || !isSafe || text.includes('/.well-known/')) {
    throw new Fault(
      'must be an https: URL such as https://login.example/realms/shop, without a query or /.well-known/; http: is accepted only for 127.0.0.1, [::1] and localhost',
    )
  }
  if (url.hostname === 'login.microsoftonline.com' && SHARED_TENANTS.test(url.pathname)) {
    throw new Fault(
      'must be the issuer of one organisation, such as https://login.microsoftonline.com/<tenant id>/v2.0',
    )
  }
  return text
}

export function readOidcScopes(text: string | undefined): string {
  const scopes = (text ?? 'openid profile email').split(/ +/)
  if (!scopes.includes('openid') || !scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))) {
    throw new Fault('must be scopes separated by blanks, one of which is openid')
  }
  return scopes.join(' ')
}

export function readRoleRules(text: string | undefined): RoleRules {
  const rules = parseRoleRules(text ?? '')
  if (rules === undefined) {
    throw new Fault(
      `must be pairs such as admin=petstore-admins,staff=shop,viewer=*, with the roles viewer, cashier, staff and admin, not "${text}"`,
    )
  }
  return rules
}
