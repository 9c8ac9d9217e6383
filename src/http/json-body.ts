// Request bodies: accepts only JSON in UTF-8, and keeps every digit of every integer.
// validation.ts checks the values.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { openByteBudget } from '../contract/byte-budget.ts'
import { AppError } from '../contract/errors.ts'
import { parseJson } from '../values/json.ts'
import { afterClose } from './after-close.ts'
import { findJsonFault } from './json-fault.ts'

export const BODY_LIMIT_BYTES = 1_048_576
/**
 * A larger body counts as large. A body with only known fields is much smaller, except that of changePets. Smaller bodies
 * are not limited: those of all writes in flight take less than 10 MB together.
 */
export const LARGE_BODY_BYTES = 16_384
/** Max total size of large bodies in memory. */
export const LARGE_BODIES_MAX_BYTES = 64 * BODY_LIMIT_BYTES

/** Stands for the JSON body `null`, because null means a missing body. Validation rejects it: it is not an object. */
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
  const reserveMemory = largeBodyBudget()
  // Runs before any byte of the body is read.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    // Fastify does not read the body of GET and HEAD.
    if (request.method === 'GET' || request.method === 'HEAD') return done()
    done(unsupportedEncoding(request) ?? reserveMemory(request, reply))
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

/** Returns the error of a body that is compressed or not in UTF-8. */
function unsupportedEncoding(request: FastifyRequest): AppError | null {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new AppError('unsupported_media_type', { headers: { 'accept-encoding': 'identity' } })
  }
  const charset = /;\s*charset\s*=\s*"?([^";]*)/i.exec(request.headers['content-type'] ?? '')?.[1]
  if (charset !== undefined && charset.trim().toLowerCase() !== 'utf-8') {
    return new AppError('unsupported_media_type')
  }
  return null
}

/**
 * Limits the memory that large bodies take together. Returns a function that reserves memory for the body of a request
 * until its response closes, or returns an error if the body would exceed the limit.
 */
function largeBodyBudget() {
  const budget = openByteBudget(LARGE_BODIES_MAX_BYTES)
  return (request: FastifyRequest, reply: FastifyReply): AppError | null => {
    const { 'content-length': length, 'transfer-encoding': transferEncoding } = request.headers
    // The size of a chunked body is not known in advance.
    const size = transferEncoding === undefined ? Number(length ?? 0) : BODY_LIMIT_BYTES
    // Fastify rejects a body over BODY_LIMIT_BYTES without reading it (413).
    if (size <= LARGE_BODY_BYTES || size > BODY_LIMIT_BYTES) return null
    const release = budget.take(size)
    if (release === undefined) return new AppError('overloaded')
    // The client may have gone while its key was checked.
    afterClose(reply.raw, release)
    return null
  }
}
