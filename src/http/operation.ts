// What every operation under /v1 is made of: the scope it declares, and the responses that it documents.
import type { FastifyInstance, FastifySchema, FastifyTypeProvider } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import type { Caller } from '../caller.ts'
import type { Scope } from '../scopes.ts'
import { ERRORS, type ErrorCode, errorBody } from '../errors.ts'
import { ERRORS_PAGE } from './page-addresses.ts'

interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

/** The part of the application where a key is required; requests are typed by the schemas. */
export type V1 = ReturnType<typeof withSchemaTypes>

export function withSchemaTypes(app: FastifyInstance) {
  return app.withTypeProvider<SchemaTypes>()
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the key must be allowed to do; `any` for an operation that every key may call. */
    scope?: Scope | 'any'
    /** Errors that only this operation has; the others follow from its schema. */
    errors?: readonly ErrorCode[]
  }
  interface FastifyRequest {
    caller: Caller | null
  }
}

export const ErrorSchema = Type.Object(
  {
    code: Type.String({
      description:
        'Machine-readable; never changes its meaning. The examples are all that exist; more may come.',
      examples: Object.keys(ERRORS),
    }),
    message: Type.String({ description: 'For a person; may change.' }),
    status: Type.Integer({ description: 'The HTTP status code of the response.' }),
    details: Type.Optional(
      Type.Array(Type.Object({ field: Type.String(), code: Type.String(), message: Type.String() }), {
        description: 'Every fault of the request at once.',
      }),
    ),
  },
  {
    $id: 'Error',
    description: `What every answer that is not a success carries: [every code and what to do](${ERRORS_PAGE}).`,
  },
)

export const IdempotencyKeyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Any text of your choice, new for each animal. Repeating a request with it never makes a second one; kept for 24 hours.',
    }),
  ),
})

interface ResponseDocument {
  description: string
  schema: string
  example: unknown
  headers?: Record<string, string>
}

/** A success without a body. */
export function emptyResponse(description: string) {
  return { description, headers: describeHeaders({}), type: 'null' }
}

/** A success as openapi.json and the serialiser want it. */
export function response({ description, schema, example, headers = {} }: ResponseDocument) {
  return {
    description,
    headers: describeHeaders(headers),
    content: {
      'application/json': { schema: { $ref: `${schema}#` }, examples: { example: { value: example } } },
    },
  }
}

/** Documents the errors of every operation: its own, and those that follow from its method, scope and schema. */
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
  // A body that is not needed is ignored, but must be JSON.
  if (isWrite) codes.push('invalid_json', 'outcome_unknown')
  if (querystring !== undefined) codes.push('invalid_parameter')
  if (querystring !== undefined && 'cursor' in querystring.properties) codes.push('invalid_cursor')
  if (params !== undefined) codes.push(params.notFound ?? 'route_not_found')
  if (headers !== undefined && 'if-match' in headers.properties) codes.push('precondition_failed')
  if (headers !== undefined && 'idempotency-key' in headers.properties) {
    codes.push('invalid_parameter', 'idempotency_key_in_use', 'idempotency_key_reused')
  }
  return codes
}

/** Errors grouped by status, in the order of the table of errors, and any other as `default`. */
function errorResponses(codes: readonly ErrorCode[]) {
  const sorted = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.includes(code))
  const byStatus = Map.groupBy(sorted, (code) => ERRORS[code].status)
  const responses = [...byStatus].map(([status, ofStatus]) => [
    status,
    {
      description: ofStatus.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
      headers: describeHeaders(ERROR_HEADERS[status] ?? {}),
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
        'Any other response: the service is unavailable or busy, or the request is not part of this interface.',
      content: {
        'application/json': {
          schema: { $ref: 'Error#' },
          examples: { unavailable: { value: errorBody('unavailable') } },
        },
      },
    },
  }
}

const ERROR_HEADERS: Record<number, Record<string, string>> = {
  401: { 'WWW-Authenticate': 'How to authenticate (RFC 6750).' },
  403: { 'WWW-Authenticate': 'The scope that the API key lacks (RFC 6750).' },
}

function describeHeaders(headers: Record<string, string>) {
  const all = { 'X-Request-Id': 'Names this request in the logs of the service.', ...headers }
  return Object.fromEntries(
    Object.entries(all).map(([header, description]) => [header, { type: 'string', description }]),
  )
}
