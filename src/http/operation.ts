// What every operation under /v1 is made of: the services it is given, the scope it declares, and the
// errors that it documents.
import type { FastifyInstance, FastifyTypeProvider } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import type { Environment } from '../api-keys/format.ts'
import type { Caller } from '../api-keys/schema.ts'
import type { Scope } from '../api-keys/scopes.ts'
import type { Usage } from '../api-keys/usage.ts'
import type { Db } from '../db/database.ts'
import { ERRORS, type ErrorCode, errorBody } from '../errors.ts'
import type { Holds } from '../orders/holds.ts'
import type { PetBatches } from '../pets/batches.ts'
import { ERRORS_PAGE } from './pages/addresses.ts'

export interface Services {
  db: Db
  pets: PetBatches
  categories: 'any' | 'strict'
  /** The origin that clients see, or nothing: addresses then start at `/`. */
  publicUrl: string
  /** The time by which a removed operation is judged. */
  clock: () => Date
  usage: Usage
  holds: Pick<Holds, 'fresh'>
  /** How long an order holds its animal when the buyer did not say. */
  holdMinutes: number
  environment: Environment
}

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

interface Answer {
  description: string
  schema: string
  example: unknown
  headers?: Record<string, string>
}

/** A success without a body. */
export function emptyAnswer(description: string) {
  return { description, headers: describeHeaders({}), type: 'null' }
}

/** A success as openapi.json and the serialiser want it. */
export function answer({ description, schema, example, headers = {} }: Answer) {
  return {
    description,
    headers: describeHeaders(headers),
    content: {
      'application/json': { schema: { $ref: `${schema}#` }, examples: { example: { value: example } } },
    },
  }
}

/** The documented errors of an operation, grouped by status, and any other as `default`. */
export function errorAnswers(...codes: ErrorCode[]) {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status)
  const answers = [...byStatus].map(([status, ofStatus]) => [
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
    ...Object.fromEntries(answers),
    default: {
      description: 'Any other answer: the service is away or busy, or the request is none of this interface.',
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
}

function describeHeaders(headers: Record<string, string>) {
  const all = { 'X-Request-Id': 'Names this request in the logs of the service.', ...headers }
  return Object.fromEntries(
    Object.entries(all).map(([header, description]) => [header, { type: 'string', description }]),
  )
}
