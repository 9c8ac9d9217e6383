// Bodies: JSON in UTF-8, nothing else, with every digit of every integer.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { parseJson } from '../json.ts'

export const BODY_LIMIT_BYTES = 1_048_576

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
  // Before a byte of the body is read.
  app.addHook('preParsing', (request, _reply, _payload, done) => done(refuseOtherEncodings(request)))
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

function refuseOtherEncodings(request: FastifyRequest): AppError | null {
  if (request.method === 'GET' || request.method === 'HEAD') return null
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
