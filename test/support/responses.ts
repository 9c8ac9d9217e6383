// Checks that hold for every response: a status that its operation may return, a body that is valid by openapi.json,
// and headers that are valid by their standards.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { assert } from 'vitest'

interface Operation {
  operationId: string
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}

export interface SeenResponse {
  method: string
  path: string
  status: number
  headers: Headers
  text: string
  body: unknown
}

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
}
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema(document, 'openapi.json')

/** Statuses that any operation may return in addition to those it documents: see "default" in openapi.json. */
const ANYWHERE = [403, 429, 431, 503]
const WITH_BODY = [408, 413, 415]
/** Statuses of paths and methods without an operation. */
const NOWHERE = [400, 401, 404, 405, 408, 429, 431, 503]
const OUTSIDE = [200, 204, 304, 400, 404, 405, 408, 431, 503]

/** Throws if a response is wrong. Uses plain comparisons: assertions of a library took 90% of the time. */
export function checkResponse(response: SeenResponse): void {
  const pathname = pathOf(response.path)
  const operation = findOperation(response.method, pathname)
  const underV1 = pathname === '/v1' || pathname.startsWith('/v1/')
  const allowed = allowedStatuses(operation, response.method, underV1)
  must(allowed.includes(response.status), response, `the status is none of ${allowed.join()}`)
  checkHeaders(response, underV1)
  if (response.method === 'HEAD' || [204, 304].includes(response.status)) {
    must(response.text === '', response, 'an unexpected body')
  } else if (response.status >= 400 && !(isPage(response) && !underV1 && response.status === 404)) {
    checkErrorBody(response)
  } else if (operation !== undefined) {
    checkSchema(response, operation)
  }
}

/** Outside /v1, a browser gets a page for an address that does not exist. */
function isPage({ method, headers }: SeenResponse): boolean {
  return method === 'GET' && headers.get('content-type') === 'text/html; charset=utf-8'
}

function must(condition: boolean, { method, path, status, text }: SeenResponse, fault: string): void {
  if (!condition) assert.fail(`${fault}: ${method} ${path} -> ${status} ${text.slice(0, 300)}`)
}

/** The path as it was sent. A URL parser would normalize `/v1/pets/..`. */
function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : new URL(target).pathname
  return path.split(/[?#]/, 1)[0] as string
}

interface Found {
  pattern: RegExp
  /** The JSON pointer of the operation in the document. */
  pointer: string
  method: string
  statuses: number[]
  /** The media types of a success. */
  types: string[]
}

const STREAM_TYPE = 'text/event-stream'

/** The more parameters a path has, the later: `/pets/count` is no `/pets/{petId}`. */
const paths = Object.entries(document.paths).toSorted(
  ([one], [other]) => one.split('{').length - other.split('{').length,
)
const operations: Found[] = paths.flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, { responses }]) => {
    const documented = Object.keys(responses).filter((status) => status !== 'default')
    return {
      pattern: new RegExp(`^/v1${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      pointer: `/paths/${escape(path)}/${verb}`,
      method: verb.toUpperCase(),
      types: Object.keys(responses['200']?.content ?? {}),
      statuses: [...documented.map(Number), ...ANYWHERE, ...(verb === 'get' ? [] : WITH_BODY)],
    }
  }),
)

function findOperation(method: string, pathname: string): Found | undefined {
  const known = method === 'HEAD' ? 'GET' : method
  return operations.find((operation) => operation.method === known && operation.pattern.test(pathname))
}

function allowedStatuses(found: Found | undefined, method: string, underV1: boolean): number[] {
  if (!underV1) return OUTSIDE
  if (method === 'OPTIONS') return [...NOWHERE, 204]
  return found === undefined ? NOWHERE : found.statuses
}

const JSON_TYPE = 'application/json; charset=utf-8'

function checkErrorBody(response: SeenResponse): void {
  must(response.headers.get('content-type') === JSON_TYPE, response, 'an error that is not JSON')
  validate('openapi.json#/components/schemas/Error', response.body, response)
  const error = response.body as { code: string; message: string; status: number }
  must(error.status === response.status, response, 'another status in the body')
  must(/^[a-z]+(_[a-z]+)*$/.test(error.code), response, 'a malformed code')
  must(error.message !== '', response, 'an error without a message')
  must(helpOf(response) === `/docs/errors#${error.code}`, response, 'a link to the help of another code')
}

/** The path and fragment of the page that explains the error. */
function helpOf({ headers }: SeenResponse): string | undefined {
  const target = /(?:^|, )<([^>]+)>; rel="help"(?:,|$)/.exec(headers.get('link') ?? '')?.[1]
  return target?.replace(/^https?:\/\/[^/]+/, '')
}

function checkSchema(response: SeenResponse, { pointer, types }: Found): void {
  if (types.includes('text/csv')) {
    const isKnown = types.some((type) => response.headers.get('content-type') === `${type}; charset=utf-8`)
    return must(isKnown, response, 'a file of another type')
  }
  if (types.includes(STREAM_TYPE)) {
    must(response.headers.get('content-type') === STREAM_TYPE, response, 'a stream of another type')
    return must(response.text.startsWith('retry: '), response, 'a stream without a retry time')
  }
  must(response.headers.get('content-type') === JSON_TYPE, response, 'a success that is not JSON')
  const schema = `openapi.json#${pointer}/responses/${response.status}/content/application~1json/schema`
  // JSON.parse rounds large ids to numbers, which the validator needs. Tests compare the exact values.
  validate(schema, JSON.parse(response.text), response)
}

function validate(reference: string, data: unknown, response: SeenResponse): void {
  const check = ajv.getSchema(reference)
  if (check === undefined) return must(false, response, `${reference} is not in openapi.json`)
  const isValid = check(data)
  if (isValid !== true) must(false, response, JSON.stringify(check.errors))
}

function escape(path: string): string {
  return encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = '"[^"\\\\]*"'
const PARAMETER = `\\s*;\\s*${TOKEN}\\s*=\\s*(?:${TOKEN}|${QUOTED})`
const LINK = `<[^<>\\s"]*>(?:${PARAMETER})+`

/** The grammar of each header, by its specification. */
const GRAMMARS: Record<string, RegExp> = {
  allow: new RegExp(`^${TOKEN}(?:, ${TOKEN})*$`), // RFC 9110
  deprecation: /^@-?\d{1,15}$/, // RFC 9745: a structured date
  'idempotency-replayed': /^true$/,
  link: new RegExp(`^${LINK}(?:, ${LINK})*$`), // RFC 8288
  location: /^(?:https?:\/\/[^/\s]+)?\/[^\s]*$/,
  ratelimit: /^"[a-z]+";r=\d+;t=\d+$/, // a structured list with parameters
  'ratelimit-policy': /^"[a-z]+";q=\d+;w=\d+$/,
  'retry-after': /^\d+$/, // RFC 9110: seconds
  'www-authenticate': new RegExp(`^Bearer ${TOKEN}=${QUOTED}(?:, ${TOKEN}=${QUOTED})*$`), // RFC 6750
  'x-request-id': /^[A-Za-z0-9._:/+=@-]{1,128}$/,
}

const REQUIRED_BY_STATUS: Record<number, string[]> = {
  401: ['www-authenticate'],
  405: ['allow'],
  429: ['retry-after', 'ratelimit', 'ratelimit-policy'],
  503: ['retry-after'],
}

function checkHeaders(response: SeenResponse, underV1: boolean): void {
  const { headers, status } = response
  for (const name of ['x-request-id', ...(REQUIRED_BY_STATUS[status] ?? [])]) {
    must(headers.has(name), response, `${name} is missing`)
  }
  for (const [name, value] of headers) {
    must(GRAMMARS[name]?.test(value) ?? true, response, `${name} violates its grammar: ${value}`)
  }
  // The response to HEAD has no body that names the code.
  must(status < 400 || /^\/docs\/errors#[a-z_]+$/.test(helpOf(response) ?? ''), response, 'no link to help')
  const sunset = headers.get('sunset')
  // RFC 8594 requires an HTTP-date; only an HTTP-date survives the round trip through Date.
  must(sunset === null || new Date(sunset).toUTCString() === sunset, response, 'Sunset is not an HTTP-date')
  if (!underV1 || status === 204 || status === 304) return
  must(headers.get('cache-control') === 'no-store', response, 'a cache may store it')
  must(headers.get('x-content-type-options') === 'nosniff', response, 'a browser may guess its type')
}
