// Shared parts of every operation under /v1: its scope, its types and its documented responses.
import type { FastifyInstance, FastifySchema, FastifyTypeProvider } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import type { Caller } from '../contract/caller.ts'
import { DETAIL_CODES, ERRORS, type ErrorCode, errorBody, retryAfter } from '../contract/errors.ts'
import { refTo, type ResponseOf } from '../contract/named-schema.ts'
import type { DeclaredScope } from '../contract/scopes.ts'
import { ERRORS_PAGE } from './page-addresses.ts'

interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? ResponseOf<this['schema']> : unknown
}

/** The part of the application that requires an API key. Requests and responses get their types from the schemas. */
export type V1 = ReturnType<typeof withSchemaTypes>

export function withSchemaTypes(app: FastifyInstance) {
  return app.withTypeProvider<SchemaTypes>()
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the key needs. The check, `openapi.json` and the docs follow from it. */
    scope?: DeclaredScope
    /** True if the response shows pets or holds, so that it needs a sweep of expired holds first. Every read declares it. */
    showsHolds?: boolean
    /** Errors specific to this operation. `documentErrors` adds those that follow from its method, scope and schema. */
    errors?: readonly ErrorCode[]
    /** True if a response with status 200 stays open. It is logged when it ends, without an effect on the latency metric. */
    isStream?: true
  }
  interface FastifyRequest {
    caller: Caller | null
  }
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

export const IdempotencyKeyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Makes the request safe to retry. Choose a new text for each pet or order, for example a UUID. A retry with the same key returns the first response, which is stored for 24 hours.',
    }),
  ),
})

interface ResponseDocument {
  description: string
  example: unknown
  headers?: Record<string, string>
}

/** A success response without a body. */
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

/** Adds the possible errors of each operation to its schema: `config.errors`, and those that the schema implies. */
export function documentErrors(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, config, schema }) => {
    if (schema === undefined) return
    const isWrite = ![method].flat().includes('GET') && ![method].flat().includes('HEAD')
    const codes = [...schemaErrors(schema, isWrite), ...(config?.errors ?? [])]
    if (config?.scope !== 'any') codes.push('insufficient_scope')
    schema.response = { ...(schema.response as object), ...errorResponses(codes) }
  })
}

interface DeclaredParts {
  body?: unknown
  params?: { notFound?: ErrorCode }
  querystring?: { properties: object }
  headers?: { properties: object }
}

function schemaErrors(schema: FastifySchema, isWrite: boolean): ErrorCode[] {
  const { body, params, querystring, headers } = schema as DeclaredParts
  const codes: ErrorCode[] = ['missing_api_key', 'invalid_api_key']
  if (body !== undefined) codes.push('missing_body', 'invalid_body')
  // Every write can have a body. If the operation needs no body, the body is ignored but must be valid JSON.
  if (isWrite) codes.push('invalid_json', 'outcome_unknown')
  if (querystring !== undefined) codes.push('invalid_parameter')
  if (querystring !== undefined && 'cursor' in querystring.properties) codes.push('invalid_cursor')
  if (params !== undefined) codes.push(params.notFound ?? 'route_not_found')
  if (headers !== undefined && 'if-match' in headers.properties) {
    codes.push('invalid_parameter', 'precondition_failed')
  }
  if (headers !== undefined && 'idempotency-key' in headers.properties) {
    codes.push('invalid_parameter', 'idempotency_key_in_use', 'idempotency_key_reused')
  }
  return codes
}

/** Groups errors by status, in the order of src/contract/errors.ts. `default` stands for all other errors. */
function errorResponses(codes: readonly ErrorCode[]) {
  const sorted = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.includes(code))
  const byStatus = Map.groupBy(sorted, (code) => ERRORS[code].status)
  const responses = [...byStatus].map(([status, ofStatus]) => [
    status,
    {
      description: ofStatus.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
      headers: describeHeaders({ ...HELP_LINK, ...ERROR_HEADERS[status], ...describeRetryAfter(ofStatus) }),
      content: {
        'application/json': {
          schema: { $ref: 'Error#' },
          examples: Object.fromEntries(ofStatus.map((code) => [code, { value: errorBody(code) }])),
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

const HELP_LINK = {
  Link: 'URL of the page that explains the error (RFC 8288): `<…>; rel="help"`. Can contain further links.',
}

const ERROR_HEADERS: Record<number, Record<string, string>> = {
  401: { 'WWW-Authenticate': 'The required authentication scheme (RFC 6750).' },
  403: { 'WWW-Authenticate': 'The scopes that the API key lacks, separated by blanks (RFC 6750).' },
}

function describeRetryAfter(codes: readonly ErrorCode[]): Record<string, string> {
  const temporary = codes.filter((code) => 'retry-after' in retryAfter(code)).map((code) => `\`${code}\``)
  if (temporary.length === 0) return {}
  return { 'Retry-After': `Seconds until a retry can succeed, with ${temporary.join(', ')}.` }
}

function describeHeaders(headers: Record<string, string>) {
  const all = { 'X-Request-Id': 'Identifies this request in the logs of the service.', ...headers }
  return Object.fromEntries(
    Object.entries(all).map(([header, description]) => [header, { type: 'string', description }]),
  )
}
