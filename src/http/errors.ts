// The one place where an error becomes an answer, also for requests that never reached a route.
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, errorBody } from '../errors.ts'

/** What a client should wait before it repeats a request that met 503, in seconds. */
const RETRY_AFTER_SECONDS = '1'

/** What Fastify throws of its own, in our words. */
const FRAMEWORK_ERRORS: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'malformed_request',
}

const CHANGING_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export function answerError(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const known = toAppError(error, request)
  if (known.status >= 500)
    request.log.error({ err: known.cause ?? known, code: known.code }, 'request failed')
  if (known.status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS)
  if (known.code === 'unsupported_media_type' && !('accept-encoding' in known.headers)) {
    reply.header('accept', 'application/json')
  }
  reply.code(known.status).headers(known.headers).send(errorBody(known.code, known.details))
}

function toAppError(error: FastifyError | AppError, request: FastifyRequest): AppError {
  if (error instanceof AppError) return error
  if (error.code === 'FST_ERR_HANDLER_TIMEOUT') {
    const changing = CHANGING_METHODS.has(request.method)
    return new AppError(changing ? 'outcome_unknown' : 'unavailable', { cause: error })
  }
  return new AppError(FRAMEWORK_ERRORS[error.code] ?? 'internal_error', { cause: error })
}

const CLIENT_ERRORS: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

const STATUS_TEXTS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/** Bytes that Node could not read as a request: there is no request and no reply, only a socket. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // Bytes after an answered request may be the rest of it; answering them too would be a second answer.
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const body = errorBody(CLIENT_ERRORS[error.code ?? ''] ?? 'malformed_request')
  const json = JSON.stringify(body)
  socket.end(
    [
      `HTTP/1.1 ${body.status} ${STATUS_TEXTS[body.status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(json)}`,
      'cache-control: no-store',
      'connection: close',
      '',
      json,
    ].join('\r\n'),
  )
}
