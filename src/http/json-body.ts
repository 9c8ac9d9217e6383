// Bodies: JSON in UTF-8, nothing else, with every digit of every integer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { parseJson } from '../json.ts'

export const BODY_LIMIT_BYTES = 1_048_576
/** Bodies up to this are not counted: those of all requests under way together take a few megabytes. */
export const LARGE_BODY_BYTES = 16_384
/** What the large ones may hold together. No body that is valid here is large, so nobody honest meets this limit. */
export const LARGE_BODIES_MAX_BYTES = 64 * BODY_LIMIT_BYTES

/** A body that says null: it is no object, and not the absence of a body either. */
const JSON_NULL = Symbol('null')

// `fatal`: invalid bytes are refused instead of becoming U+FFFD. `ignoreBOM` keeps a BOM, which is no JSON.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => readBody(body),
  )
  const makeRoom = roomForLargeBodies()
  // Before a byte of the body is read.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
    done(hasBody ? (rejectOtherEncodings(request) ?? makeRoom(request, reply)) : null)
  })
}

function readBody(body: Buffer): unknown {
  // Where a body is needed, validation says that it is missing; where none is, nobody minds.
  if (body.length === 0) return null
  return parse(body) ?? JSON_NULL
}

function parse(body: Buffer): unknown {
  try {
    return parseJson(utf8.decode(body))
  } catch {
    // Without the cause: it would quote the body, and a body may hold what no log should.
    throw new AppError('invalid_json')
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

/** A thousand requests of a megabyte each must not take the memory of a thousand megabytes. */
function roomForLargeBodies() {
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
