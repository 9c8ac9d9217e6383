// Rejects what an operation does not have: query parameters, fields of a body, a second value of a header. Otherwise a
// misspelt filter would return everything, and a misspelt field would be lost.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, type ErrorDetail } from '../contract/errors.ts'
import { countHeader } from './headers.ts'
import type { DeclaredParts } from './operation.ts'
import { containsApiKey } from './request-id.ts'

/** A request can have thousands of unknown names. The response lists the first ones, up to this length each. */
const LISTED_MAX = 10
const LISTED_LENGTH_MAX = 60

export function rejectUndeclared(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema === undefined) return
    const { body, querystring, headers } = route.schema as DeclaredParts
    const parameters = new Set(Object.keys(querystring?.properties ?? {}))
    // The entity tags of a list can be sent in several headers of the same name.
    const single = Object.entries(headers?.properties ?? {}).filter(([, schema]) => !('x-etags' in schema))
    const names = single.map(([name]) => name)
    const check = (request: FastifyRequest) =>
      unknownParameters(request.query as object, parameters) ??
      repeatedHeader(request, names) ??
      (body === undefined ? undeclaredBody(request.body) : undefined)
    // A hook with a callback, because promises take a tenth of the time of a request.
    route.preValidation = [
      ...[route.preValidation ?? []].flat(),
      (request, _reply, done) => done(check(request)),
    ]
  })
}

function unknownParameters(query: object, parameters: ReadonlySet<string>): AppError | undefined {
  const sent = Object.keys(query)
  if (sent.every((name) => parameters.has(name))) return undefined
  const unknown = sent.filter((name) => !parameters.has(name))
  return new AppError('unknown_parameter', {
    details: unknown.slice(0, LISTED_MAX).map((name) => describeUnknownParameter(name, parameters)),
  })
}

function describeUnknownParameter(sent: string, parameters: ReadonlySet<string>): ErrorDetail {
  const field = shorten(sent)
  const list = /^(.*)\[\w*\]$/.exec(field)?.[1] ?? ''
  const help = parameters.has(list)
    ? `Send ${list} without brackets, once for each value: ${list}=1&${list}=2.`
    : suggest(field, [...parameters], 'parameters')
  return {
    field,
    code: 'unknown_parameter',
    message: `${field} is not a parameter of this operation. ${help}`,
  }
}

/** The details of the fields that an object has, but its schema does not. */
export function describeUnknownFields(value: object, path: string, fields: readonly string[]): ErrorDetail[] {
  const unknown = Object.keys(value).filter((name) => !fields.includes(name))
  return unknown.slice(0, LISTED_MAX).map((name) => {
    const field = path + shorten(name)
    return {
      field,
      code: 'unknown_field',
      message: `${field} is not a field of this body. ${suggest(shorten(name), fields, 'fields')}`,
    }
  })
}

/** The header that names the fields of a body that the operation ignored. */
export const IGNORED_FIELDS = 'petstore-ignored-fields'

/** The value of the header; undefined if every field has a meaning. Names are percent-encoded, as in a URL. */
export function ignoredFields(body: object, fields: Record<string, unknown>): string | undefined {
  const names = Object.keys(body).filter((name) => !Object.hasOwn(fields, name))
  if (names.length === 0) return undefined
  return names
    .slice(0, LISTED_MAX)
    .map((name) => encodeURIComponent(shorten(name)))
    .join(', ')
}

function shorten(name: string): string {
  if (containsApiKey(name)) return '[API key]'
  const text = name.toWellFormed()
  return text.length > LISTED_LENGTH_MAX ? `${text.slice(0, LISTED_LENGTH_MAX).toWellFormed()}…` : text
}

function suggest(name: string, known: readonly string[], kind: string): string {
  if (known.length === 0) return `It has no ${kind}.`
  const [nearest, distance] = known
    .map((one): [string, number] => [one, editDistance(name.toLowerCase(), one.toLowerCase())])
    .reduce((best, next) => (next[1] < best[1] ? next : best))
  if (distance < nearest.length && distance <= Math.max(2, Math.floor(nearest.length / 3)))
    return `Did you mean ${nearest}?`
  return `The ${kind} are ${known.join(', ')}.`
}

/** How many characters must be added, removed or replaced to make one text of the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, letter] of from.split('').entries()) {
    const next = [index + 1]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] as number) + (letter === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] as number) + 1, (next[column - 1] as number) + 1))
    }
    row = next
  }
  return row[to.length] as number
}

function repeatedHeader({ headers, raw }: FastifyRequest, names: readonly string[]): AppError | undefined {
  const repeated = names.filter((name) => headers[name] !== undefined && countHeader(raw, name) > 1)
  if (repeated.length === 0) return undefined
  return new AppError('invalid_parameter', {
    details: repeated.map((name) => ({
      field: name,
      code: 'repeated',
      message: `${headerName(name)} can be sent only once.`,
    })),
  })
}

/** The usual spelling of a header, such as `If-Match`. */
export function headerName(name: string): string {
  return name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())
}

/** An operation without a body accepts none, `null` or an empty object, which some clients always send. */
function undeclaredBody(body: unknown): AppError | undefined {
  // json-body.ts replaces the JSON value null with a symbol.
  if (body === undefined || body === null || typeof body === 'symbol') return undefined
  if (typeof body !== 'object' || Array.isArray(body)) {
    const message = 'The body must be absent or an empty object: this operation has no fields.'
    return new AppError('invalid_body', { details: [{ field: '', code: 'wrong_type', message }] })
  }
  const details = describeUnknownFields(body, '', [])
  return details.length === 0 ? undefined : new AppError('invalid_body', { details })
}
