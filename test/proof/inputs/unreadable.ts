// Unreadable bodies, made from a valid one: not JSON, not UTF-8, or of another content type.
import * as fc from 'fast-check'

export interface BadBody {
  kind: string
  bytes: Buffer | undefined
  headers: [name: string, value: string][]
  code: string
  /** Exactly the fields that `details` must name; undefined if there is nothing to name. */
  fields?: string[]
}

export const JSON_TYPE: [string, string] = ['Content-Type', 'application/json']

/** Makes a body unreadable. */
type Spoil = (json: string) => BadBody

const NOT_JSON_VALUES = [
  'NaN',
  'Infinity',
  '-Infinity',
  'undefined',
  '01',
  '+1',
  '.5',
  '1.',
  '0x1',
  '1_000',
  '1n',
  "'a'",
  '"a',
  '"\t"',
  '"\\x41"',
  '"\\u12"',
  'True',
  '',
  '[1,]',
  '{a:1}',
  '/**/1',
  '1 2',
]

/** Bytes that are never valid UTF-8, or not at this position. */
const BYTES = [
  [0xff],
  [0x80],
  [0xf0, 0x9f, 0x90],
  [0xc0, 0xaf],
  [0xc0, 0x80],
  [0xed, 0xa0, 0xbd],
  [0xf4, 0x90, 0x80, 0x80],
]

function noJson(kind: string, spoil: (json: string) => string | Buffer): Spoil {
  return (json) => ({ kind, code: 'invalid_json', bytes: Buffer.from(spoil(json)), headers: [JSON_TYPE] })
}

function cut(json: string, share: number): Buffer {
  const whole = Buffer.from(json)
  return whole.subarray(0, 1 + (share % (whole.length - 1)))
}

/** Inserts the bytes after the first quote, inside a string. Without a quote, inserts them inside the object. */
function insert(json: string, bytes: number[]): Buffer {
  const whole = Buffer.from(json)
  const inside = Math.max(1, whole.indexOf('"') + 1)
  return Buffer.concat([whole.subarray(0, inside), Buffer.from(bytes), whole.subarray(inside)])
}

const notJson: fc.Arbitrary<Spoil> = fc.oneof(
  fc.nat().map((share) => noJson('truncated', (json) => cut(json, share))),
  fc
    .constantFrom('}', '{}', ',', 'x', '\0', '//', ']')
    .map((junk) => noJson('trailing text', (json) => json + junk)),
  fc
    .constantFrom('\ufeff', 'x', ',', '\0', "'", ")]}',\n")
    .map((junk) => noJson('leading text', (json) => junk + json)),
  fc
    .constantFrom(...NOT_JSON_VALUES)
    .map((value) => noJson(`a value ${value}`, (json) => `{"x": ${value}, ${json.slice(1)}`)),
  fc.constantFrom(...BYTES).map((bytes) => noJson('not UTF-8', (json) => insert(json, bytes))),
  fc.constant(noJson('UTF-16', (json) => Buffer.from(json, 'utf16le'))),
  fc.constantFrom(' ', '\n', '\t\r\n').map((blank) => noJson('blank', () => blank)),
  fc.integer({ min: 1, max: 5000 }).map((depth) => noJson('never closed', () => '[{"a":'.repeat(depth))),
)

const TOKEN = fc.string({ unit: fc.constantFrom(...'abcxyz019-.+*'.split('')), minLength: 1, maxLength: 12 })
const OTHER_TYPES = [
  'text/plain',
  'text/json',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'application/jsonp',
  'application/vnd.api+json',
  'application/merge-patch+json',
  'application/*',
  '*/*',
  'json',
  'application/json; charset=utf-16',
  'application/json; charset=iso-8859-1',
  'application/json; charset=',
  '',
]

function otherMedia(kind: string, headers: [name: string, value: string][]): Spoil {
  return (json) => ({ kind, code: 'unsupported_media_type', bytes: Buffer.from(json), headers })
}

const mediaType = fc.oneof(
  fc
    .tuple(TOKEN, TOKEN)
    .map((parts) => parts.join('/'))
    .filter((type) => type !== 'application/json'),
  fc.constantFrom(...OTHER_TYPES),
)

const notOfItsType: fc.Arbitrary<Spoil> = fc.oneof(
  mediaType.map((type) => otherMedia('another type', [['Content-Type', type]])),
  fc.constant(otherMedia('no type', [])),
  fc
    .constantFrom('gzip', 'deflate', 'br', 'zstd', 'x', 'gzip, identity', 'identity, gzip')
    .map((encoding) => otherMedia('encoded', [JSON_TYPE, ['Content-Encoding', encoding]])),
)

export const unreadable = fc.oneof({ weight: 3, arbitrary: notJson }, { weight: 2, arbitrary: notOfItsType })
