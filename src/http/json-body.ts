// Request bodies: accepts only JSON in UTF-8, and keeps every digit of every integer.
// validation.ts checks the values.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../contract/errors.ts'
import { parseJson } from '../values/json.ts'
import { findJsonFault } from './json-fault.ts'

export const BODY_LIMIT_BYTES = 1_048_576
/** Bodies up to this size do not count as large: those of all requests in flight take less than 10 MB together. */
export const LARGE_BODY_BYTES = 16_384
/**
 * Max total size of large bodies in memory. A body with only known fields is much smaller than LARGE_BODY_BYTES. A body
 * without a Content-Length counts as BODY_LIMIT_BYTES.
 */
export const LARGE_BODIES_MAX_BYTES = 64 * BODY_LIMIT_BYTES

/** Stands for the JSON body `null`, because Fastify uses null for a missing body. */
const JSON_NULL = Symbol('null')

// `fatal` rejects invalid bytes instead of replacing them by U+FFFD. `ignoreBOM` keeps a BOM; JSON.parse rejects it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => readBody(body),
  )
  const reserve = largeBodyBudget()
  // Runs before any byte of the body is read.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
    done(hasBody ? (rejectOtherEncodings(request) ?? reserve(request, reply)) : null)
  })
}

function readBody(body: Buffer): unknown {
  // Validation rejects a missing body if the operation requires one.
  if (body.length === 0) return null
  return parse(body) ?? JSON_NULL
}

function parse(body: Buffer): unknown {
  try {
    return parseJson(utf8.decode(body))
  } catch {
    // Omits the cause: it quotes the body, which must not be logged.
    const { line, column } = findJsonFault(body)
    const message = `The request body is not valid JSON in UTF-8: the first mistake is at line ${line}, column ${column}.`
    throw new AppError('invalid_json', { message })
  }
}

function rejectOtherEncodings(request: FastifyRequest): AppError | null {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new AppError('unsupported_media_type', { headers: { 'accept-encoding': 'identity' } })
  }
  const charset = /;\s*charset\s*=\s*"?([^";]*)/i.exec(request.headers['content-type'] ?? '')?.[1]
  if (charset !== undefined && charset.trim().toLowerCase() !== 'utf-8') {
    return new AppError('unsupported_media_type', { headers: { accept: 'application/json' } })
  }
  return null
}

/** Limits the memory that large bodies take together. Rejects a request that would exceed the limit. */
function largeBodyBudget() {
  let held = 0
  return (request: FastifyRequest, reply: FastifyReply): AppError | null => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    const size = encoding === undefined ? Number(length ?? 0) : BODY_LIMIT_BYTES
    if (size <= LARGE_BODY_BYTES || size > BODY_LIMIT_BYTES) return null
    if (held + size > LARGE_BODIES_MAX_BYTES) return new AppError('overloaded')
    held += size
    reply.raw.once('close', () => {
      held -= size
    })
    return null
  }
}
