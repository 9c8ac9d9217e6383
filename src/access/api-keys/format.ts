// The text of an API key: a prefix, 256 random bits and a checksum. Secret scanners can detect this format, and a
// mistyped key is rejected without a query.
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type Environment = 'production' | 'staging'

const PREFIXES = { production: 'petstore_live_', staging: 'petstore_test_' } as const
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_BYTES = 32
/** Digits in base 62 for 256 bits: 62^43 is the smallest power of 62 above 2^256. */
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const SHAPE = new RegExp(`^petstore_(live|test)_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

export function makeApiKeyText(environment: Environment): string {
  const random = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`)
  const text = PREFIXES[environment] + base62(random, SECRET_LENGTH)
  return text + checksum(text)
}

/** Whether the text has the format of a key for this environment. Such a key may never have been issued. */
export function isApiKeyText(text: string, environment: Environment): boolean {
  if (!SHAPE.test(text) || !text.startsWith(PREFIXES[environment])) return false
  return text.slice(-CHECKSUM_LENGTH) === checksum(text.slice(0, -CHECKSUM_LENGTH))
}

/** Says that the text is a key of the other environment; undefined if it is not. The prefix of a key is no secret. */
export function describeOtherEnvironment(text: string, environment: Environment): string | undefined {
  const other = environment === 'production' ? 'staging' : 'production'
  if (!text.startsWith(PREFIXES[other])) return undefined
  return `The API key is for ${other}, but this service is ${environment}; use a key that starts with ${PREFIXES[environment]}.`
}

export function hashApiKey(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}

function base62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits
  return digits.padStart(length, '0')
}
