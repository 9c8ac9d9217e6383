// What every answer must be, whoever asked: a status that its operation may answer, a body that is valid by
// openapi.json, headers that are valid by their own standards.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { assert } from 'vitest'

interface Operation {
  operationId: string
  responses: Record<string, { content?: { 'application/json'?: { schema: object } } }>
}

export interface SeenAnswer {
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

/** What any operation may answer besides what it documents: see "default" in openapi.json. */
const ANYWHERE = [403, 429, 431, 503]
const WITH_BODY = [408, 413, 415]
/** Where there is no operation. */
const NOWHERE = [400, 401, 404, 405, 408, 429, 431, 503]
const OUTSIDE = [200, 204, 400, 404, 405, 408, 431]

export function checkAnswer(answer: SeenAnswer): void {
  const where = `${answer.method} ${answer.path} -> ${answer.status} ${answer.text.slice(0, 300)}`
  const { pathname } = new URL(answer.path, 'http://petstore.test')
  const operation = findOperation(answer.method, pathname)
  const underV1 = pathname === '/v1' || pathname.startsWith('/v1/')
  assert.include(allowedStatuses(operation, answer.method, underV1), answer.status, where)
  checkHeaders(answer, underV1, where)
  if (answer.method === 'HEAD' || answer.status === 204) {
    assert.equal(answer.text, '', where)
  } else if (answer.status >= 400) {
    checkErrorBody(answer, where)
  } else if (operation !== undefined) {
    checkSchema(answer, `/paths/${escape(operation.path)}/get`.replace('/get', `/${operation.verb}`), where)
  }
}

interface Found {
  path: string
  verb: string
  operation: Operation
}

function findOperation(method: string, pathname: string): Found | undefined {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  for (const [path, verbs] of Object.entries(document.paths)) {
    const pattern = new RegExp(`^/v1${path.replace(/\{\w+\}/g, '[^/]+')}$`)
    const operation = verbs[verb]
    if (operation !== undefined && pattern.test(pathname)) return { path, verb, operation }
  }
  return undefined
}

function allowedStatuses(found: Found | undefined, method: string, underV1: boolean): number[] {
  if (!underV1) return OUTSIDE
  if (method === 'OPTIONS') return [...NOWHERE, 204]
  if (found === undefined) return NOWHERE
  const documented = Object.keys(found.operation.responses).filter((status) => status !== 'default')
  return [...documented.map(Number), ...ANYWHERE, ...(method === 'GET' || method === 'HEAD' ? [] : WITH_BODY)]
}

function checkErrorBody({ body, status, headers }: SeenAnswer, where: string): void {
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8', where)
  validate('openapi.json#/components/schemas/Error', body, where)
  const error = body as { code: string; message: string; status: number }
  assert.equal(error.status, status, where)
  assert.match(error.code, /^[a-z]+(_[a-z]+)*$/, where)
  assert.isNotEmpty(error.message, where)
}

function checkSchema({ status, headers, text }: SeenAnswer, pointer: string, where: string): void {
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8', where)
  const schema = `openapi.json#${pointer}/responses/${status}/content/application~1json/schema`
  // Rounded here, so that large ids are integers to the validator; tests compare the exact ones.
  validate(schema, JSON.parse(text), where)
}

function validate(reference: string, data: unknown, where: string): void {
  const check = ajv.getSchema(reference)
  assert.isDefined(check, `${reference} is not in openapi.json; ${where}`)
  assert.isTrue(check?.(data), `${JSON.stringify(check?.errors)}; ${where}`)
}

function escape(path: string): string {
  return encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = '"[^"\\\\]*"'
const PARAMETER = `\\s*;\\s*${TOKEN}\\s*=\\s*(?:${TOKEN}|${QUOTED})`
const LINK = `<[^<>\\s"]*>(?:${PARAMETER})+`

/** Each header by the grammar of the document that defines it. */
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

function checkHeaders({ headers, status }: SeenAnswer, underV1: boolean, where: string): void {
  const required = ['x-request-id', ...(REQUIRED_BY_STATUS[status] ?? [])]
  for (const name of required) assert.isNotNull(headers.get(name), `${name} is missing; ${where}`)
  for (const [name, grammar] of Object.entries(GRAMMARS)) {
    const value = headers.get(name)
    if (value !== null) assert.match(value, grammar, `${name}; ${where}`)
  }
  const sunset = headers.get('sunset')
  // RFC 8594 wants an HTTP-date; only such a one comes out of Date as it went in.
  if (sunset !== null) assert.equal(new Date(sunset).toUTCString(), sunset, where)
  if (!underV1 || status === 204) return
  assert.equal(headers.get('cache-control'), 'no-store', where)
  assert.equal(headers.get('x-content-type-options'), 'nosniff', where)
}
