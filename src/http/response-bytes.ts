// Limits the memory that large responses take together, from when they are built until their clients have accepted them.
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ByteBudget } from '../contract/byte-budget.ts'
import { AppError } from '../contract/errors.ts'
import { afterClose } from './after-close.ts'

/**
 * A larger response counts as large. Smaller ones are not counted, which would cost each of them time: all requests in
 * flight can have 13 MB of them together.
 */
export const LARGE_RESPONSE_BYTES = 16_384
/** Max total size of large responses in memory. */
export const LARGE_RESPONSES_MAX_BYTES = 64 * 1_048_576
/** Max bytes of one UTF-16 code unit in UTF-8. */
const BYTES_PER_UNIT_MAX = 3

/** The responses whose bytes are taken already. */
const reserved = new WeakMap<ServerResponse, () => void>()

/**
 * Takes the bytes of a response before it is sent. Throws `overloaded` if they do not fit. A write must call this before its
 * commit: afterwards, it cannot be rejected any more.
 */
export function reserveResponse(budget: ByteBudget, { raw }: FastifyReply, payload: string | Buffer): void {
  const bytes = largeSize(payload)
  if (bytes === 0) return
  // A transaction that is retried reserves its response again.
  reserved.get(raw)?.()
  const release = budget.take(bytes)
  if (release === undefined) throw new AppError('overloaded')
  reserved.set(raw, release)
  // The bytes of one response are counted for each client, also if clients share a page: the kernel and Node can copy them.
  afterClose(raw, release)
}

/** Takes the bytes of each large response that has not reserved them. */
export function limitResponseBytes(app: FastifyInstance, budget: ByteBudget): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!isLarge(payload) || reserved.has(reply.raw)) return done()
    try {
      reserveResponse(budget, reply, payload)
      done()
    } catch (error) {
      // They belong to the page that is not sent.
      reply.removeHeader('link').removeHeader('etag')
      done(error as AppError)
    }
  })
}

function isLarge(payload: unknown): payload is string | Buffer {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return false
  return payload.length * BYTES_PER_UNIT_MAX > LARGE_RESPONSE_BYTES && largeSize(payload) > 0
}

/** The size in bytes; 0 for a response that is not large. */
function largeSize(payload: string | Buffer): number {
  const bytes = Buffer.byteLength(payload)
  return bytes > LARGE_RESPONSE_BYTES ? bytes : 0
}
