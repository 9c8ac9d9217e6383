// Shared parts of every operation under /v1: its scope, its types and its documented responses.
import type { FastifyInstance, FastifySchema, FastifyTypeProvider } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import type { Caller } from '../contract/caller.ts'
import {
  DETAIL_CODES,
  ERRORS,
  type ErrorBody,
  type ErrorCode,
  type ErrorDetail,
  errorBody,
  retryAfter,
} from '../contract/errors.ts'
import { isOptionalBody, refTo, type ResponseOf } from '../contract/named-schema.ts'
import type { DeclaredScope } from '../contract/scopes.ts'
import { ERRORS_PAGE } from './page-addresses.ts'

interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? ResponseOf<this['schema']> : unknown
}

/** The part of the application that requires an API key. */
export type V1 = ReturnType<typeof withSchemaTypes>

/** Derives the types of requests and responses from the schemas of the routes. Changes only the type of `app`. */
export function withSchemaTypes(app: FastifyInstance) {
  return app.withTypeProvider<SchemaTypes>()
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scopes that the API key needs; `any` if it needs none. They are checked, and shown in `openapi.json` and the docs. */
    scope?: DeclaredScope
    /** If true, the request first waits for a fresh sweep of expired holds. Every read declares true or false. */
    showsHolds?: boolean
    /** The operation sets the header `ETag` itself: see conditional-reads.ts. */
    hasOwnEtag?: true
    /** Errors specific to this operation. `documentErrors` adds those that follow from its method, scope and schema. */
    errors?: readonly ErrorCode[]
    /** Every write declares how a client can retry it. A read is always safe to retry. */
    retry?: Retry
    /** True if a response with status 200 stays open. It is logged when it ends, without an effect on the latency metric. */
    isStream?: true
  }
  interface FastifyRequest {
    /** Null until the API key is verified, and outside of /v1. */
    caller: Caller | null
  }
}

/** How a client can retry an operation after an attempt with an unknown outcome. */
export interface Retry {
  /** When a retry is safe, even if the earlier attempt took effect. */
  rule: 'safe' | 'with If-Match' | 'with Idempotency-Key' | 'never'
  /** What a retry does, for the docs. */
  effect: string
}

export const ErrorSchema = Type.Object(
  {
    code: Type.String({
      description:
        'Machine-readable. The meaning of a code never changes. The examples list all current codes; new codes can be added.',
      examples: Object.keys(ERRORS),
    }),
    message: Type.String({ description: 'Human-readable. The wording can change.' }),
    status: Type.Integer({ description: 'The HTTP status code of the response.' }),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String(),
          code: Type.String({
            description: 'Machine-readable. The examples list all current codes; new codes can be added.',
            examples: Object.keys(DETAIL_CODES),
          }),
          message: Type.String(),
        }),
        { description: 'Every invalid field, parameter or header of the request.' },
      ),
    ),
  },
  {
    $id: 'Error',
    description: `The body of every error response. See [all codes and what to do](${ERRORS_PAGE}).`,
  },
)

const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    'Makes the request safe to retry. Choose a new text for each pet, order, movement of money or batch of changes, for example a UUID. A retry with the same key returns the first response, which is stored for 24 hours.',
})
export const IdempotencyKeyHeaders = Type.Object({ 'idempotency-key': Type.Optional(IdempotencyKey) })
/** For operations that give money back: doing it twice must not depend on the care of the caller. */
export const RequiredIdempotencyKeyHeaders = Type.Object({ 'idempotency-key': IdempotencyKey })

/** The description of each header, by its name. */
type HeaderDescriptions = Record<string, string>

interface ResponseDocument {
  description: string
  example: unknown
  headers?: HeaderDescriptions
}

/** A success response without a body: for the type `null`, @fastify/swagger describes no content. */
export function emptyResponse(description: string) {
  return Type.Unsafe<undefined>({ description, headers: describeHeaders({}), type: 'null' })
}

/** A success response, in the form that openapi.json and the serialiser need. The schema also types the handler. */
export function response<Schema extends TSchema & object>(
  schema: Schema,
  { description, example, headers = {} }: ResponseDocument,
) {
  return {
    description,
    headers: describeHeaders(headers),
    content: {
      'application/json': { schema: refTo(schema), examples: { example: { value: example } } },
    },
  }
}

/** A success response that stays open, as text in a streaming format. */
export function streamResponse(description: string, mediaType: string, example: string) {
  return {
    description,
    headers: describeHeaders({}),
    content: { [mediaType]: { schema: Type.String(), examples: { example: { value: example } } } },
  }
}

/** Throws at startup if a write does not declare how clients can retry it. */
export function requireDeclaredRetry(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config, schema }) => {
    if (schema !== undefined && !isRead(method) && config?.retry === undefined)
      throw new Error(`${String(method)} ${url} does not declare \`retry\``)
  })
}

function isRead(method: string | string[]): boolean {
  return [method].flat().some((name) => name === 'GET' || name === 'HEAD')
}

/**
 * Adds the possible errors of each operation to its schema: `config.errors`, and those that follow from its method, scope
 * and schema. All other errors, such as `rate_limited`, are documented as `default`.
 */
export function documentErrors(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, config, schema }) => {
    if (schema === undefined) return
    const codes: ErrorCode[] = ['missing_api_key', 'invalid_api_key']
    if (config?.scope !== 'any') codes.push('insufficient_scope')
    // Every write can have a body. If the operation has no fields, the body can be an empty object.
    if (!isRead(method)) codes.push('outcome_unknown', 'invalid_json', 'invalid_body')
    codes.push('unknown_parameter')
    codes.push(...schemaErrors(schema), ...(config?.errors ?? []))
    schema.response = { ...(schema.response as object), ...errorResponses(codes) }
  })
}

/** The parts of a schema that imply errors. */
export interface DeclaredParts {
  body?: unknown
  /** `notFound` is the error if no resource has this path. validation.ts also uses it. */
  params?: { notFound?: ErrorCode }
  querystring?: { properties: Record<string, object> }
  headers?: { properties: Record<string, object> }
}

function schemaErrors(schema: FastifySchema): ErrorCode[] {
  const { body, params, querystring, headers } = schema as DeclaredParts
  const codes: ErrorCode[] = []
  if (body !== undefined && !isOptionalBody(body)) codes.push('missing_body')
  if (querystring !== undefined) codes.push('invalid_parameter')
  if (querystring !== undefined && 'cursor' in querystring.properties) codes.push('invalid_cursor')
  if (params !== undefined) codes.push(params.notFound ?? 'route_not_found')
  if (headers !== undefined && 'if-none-match' in headers.properties) codes.push('invalid_parameter')
  if (headers !== undefined && 'if-match' in headers.properties) {
    codes.push('invalid_parameter', 'precondition_failed')
  }
  if (headers !== undefined && 'idempotency-key' in headers.properties) {
    codes.push('invalid_parameter', 'idempotency_key_in_use', 'idempotency_key_reused')
  }
  return codes
}

const HELP_LINK: HeaderDescriptions = {
  Link: 'URL of the page that explains the error (RFC 8288): `<…>; rel="help"`. Can contain further links.',
}

const HEADERS_BY_STATUS: Record<number, HeaderDescriptions> = {
  401: { 'WWW-Authenticate': 'The required authentication scheme (RFC 6750).' },
  403: { 'WWW-Authenticate': 'The scopes that the API key lacks, separated by blanks (RFC 6750).' },
}

/** The details of an example. Operations share examples, so these stand for the fields of any operation. */
const EXAMPLE_DETAILS: Partial<Record<ErrorCode, ErrorDetail>> = {
  invalid_body: { field: 'name', code: 'missing', message: 'name is required.' },
  invalid_parameter: {
    field: 'limit',
    code: 'invalid_integer',
    message: 'limit must be an integer from 1 to 100.',
  },
  unknown_parameter: {
    field: 'statuss',
    code: 'unknown_parameter',
    message: 'statuss is not a parameter of this operation. Did you mean status?',
  },
  unknown_category: { field: 'categoryId', code: 'unknown_category', message: 'No category has the id 99.' },
  currency_mismatch: {
    field: 'currency',
    code: 'currency_mismatch',
    message: 'currency must be EUR, the currency of the store, because the price is not stored.',
  },
}

function exampleOf(code: ErrorCode): ErrorBody {
  const detail = EXAMPLE_DETAILS[code]
  return errorBody(code, { details: detail && [detail] })
}

/** Groups errors by status, in the order of src/contract/errors.ts. `default` stands for all other errors. */
function errorResponses(codes: readonly ErrorCode[]) {
  const sorted = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.includes(code))
  const byStatus = Map.groupBy(sorted, (code) => ERRORS[code].status)
  const responses = [...byStatus].map(([status, codesOfStatus]) => [
    status,
    {
      description: codesOfStatus.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
      headers: describeHeaders({
        ...HELP_LINK,
        ...HEADERS_BY_STATUS[status],
        ...describeRetryAfter(codesOfStatus),
      }),
      content: {
        'application/json': {
          schema: { $ref: 'Error#' },
          examples: Object.fromEntries(codesOfStatus.map((code) => [code, { value: exampleOf(code) }])),
        },
      },
    },
  ])
  return {
    ...Object.fromEntries(responses),
    default: {
      description:
        'Any other error. For example, the service is unavailable or overloaded, or the path does not exist.',
      headers: describeHeaders(HELP_LINK),
      content: {
        'application/json': {
          schema: { $ref: 'Error#' },
          examples: { unavailable: { value: errorBody('unavailable') } },
        },
      },
    },
  }
}

function describeRetryAfter(codes: readonly ErrorCode[]): HeaderDescriptions {
  const temporary = codes.filter((code) => 'retry-after' in retryAfter(code)).map((code) => `\`${code}\``)
  if (temporary.length === 0) return {}
  return { 'Retry-After': `Seconds until a retry can succeed, with ${temporary.join(', ')}.` }
}

/** The headers of a response in the form of openapi.json. */
export function describeHeaders(headers: HeaderDescriptions) {
  const all = { 'X-Request-Id': 'Identifies this request in the logs of the service.', ...headers }
  return Object.fromEntries(
    Object.entries(all).map(([header, description]) => [header, { type: 'string', description }]),
  )
}
