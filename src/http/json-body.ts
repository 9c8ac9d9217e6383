// Bodies: JSON in UTF-8, nothing else, with every digit of every integer.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

export const BODY_LIMIT_BYTES = 1_048_576

// `fatal`: invalid bytes are refused instead of becoming U+FFFD. `ignoreBOM` keeps a BOM, which is no JSON.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Only a number of 16 digits or more can be rounded. Looking for one costs a fiftieth of a reviver. */
const MAY_BE_ROUNDED = /\d[\d.]{15}/

export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJson(body),
  )
  // Before a byte of the body is read.
  app.addHook('preParsing', async (request) => refuseOtherEncodings(request))
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) throw new AppError('missing_body')
  const value = parse(body)
  if (value !== null) return value
  const message = 'The body must be of type object.'
  throw new AppError('invalid_body', { details: [{ field: '', code: 'wrong_type', message }] })
}

function parse(body: Buffer): unknown {
  try {
    const text = utf8.decode(body)
    return MAY_BE_ROUNDED.test(text) ? parseExactly(text, keepDigits) : JSON.parse(text)
  } catch {
    // Without the cause: it would quote the body, and a body may hold what no log should.
    throw new AppError('invalid_json')
  }
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
// TypeScript does not know yet that a reviver is told the source text.
const parseExactly = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Integers beyond 2^53 become bigints; a fraction so small that it was rounded away becomes no number. */
function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value
  if (Number.isSafeInteger(value)) return isWhole(source) ? value : Number.NaN
  return /^-?\d+$/.test(source) ? BigInt(source) : value
}

function isWhole(source: string): boolean {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const pointAt = Math.max(0, whole.length + Number(exponent))
  return /^0*$/.test((whole + fraction).slice(pointAt))
}

async function refuseOtherEncodings(request: FastifyRequest): Promise<void> {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new AppError('unsupported_media_type', { headers: { 'accept-encoding': 'identity' } })
  }
  const charset = /;\s*charset\s*=\s*"?([^";]*)/i.exec(request.headers['content-type'] ?? '')?.[1]
  if (charset !== undefined && charset.trim().toLowerCase() !== 'utf-8') {
    throw new AppError('unsupported_media_type', { headers: { accept: 'application/json' } })
  }
}
