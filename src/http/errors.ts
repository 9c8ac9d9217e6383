// The one place where an error becomes an answer, also for requests that never reached a route.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, errorBody } from '../errors.ts'
import { requestId } from './request-id.ts'
import { DATA_HEADERS, JSON_TYPE } from './security-headers.ts'

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

export function sendError(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const known = toAppError(error)
  if (known.status >= 500)
    request.log.error(
      { requestId: request.id, err: known.cause ?? known, code: known.code },
      'request failed',
    )
  if (known.status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS)
  if (known.code === 'unsupported_media_type' && !('accept-encoding' in known.headers)) {
    reply.header('accept', 'application/json')
  }
  // Fastify would close the connection while the client still writes, who then never reads why. The rest of
  // the body is dropped instead, for as long as a request may take.
  if (known.code === 'body_too_large') reply.removeHeader('connection')
  reply.headers(DATA_HEADERS)
  reply.code(known.status).headers(known.headers).send(errorBody(known.code, known.details))
}

function toAppError(error: FastifyError | AppError): AppError {
  if (error instanceof AppError) return error
  return new AppError(FRAMEWORK_ERRORS[error.code] ?? 'internal_error', { cause: error })
}

const CLIENT_ERRORS: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** The request that each connection is at, to tell whose bytes could not be read. */
const requests = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>()

export function noteRequest(request: IncomingMessage, response: ServerResponse): void {
  requests.set(request.socket, { request, response })
}

export function hasSentRequest(socket: Socket): boolean {
  return requests.has(socket)
}

/** Bytes that Node could not read as a request: there is no request and no reply, only a socket. */
export function sendClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  const last = requests.get(socket)
  const accepted = last?.response.headersSent ?? false
  // The rest of a request that has its answer: another one would be taken for that of the next request.
  const isRest = last !== undefined && !last.request.complete && accepted
  if (error.code === 'ECONNRESET' || !socket.writable || isRest) {
    socket.destroy()
  } else if (last?.request.complete && !last.response.writableFinished) {
    // The request before these bytes is still being answered; they get their answer behind it.
    last.response.once('finish', () => endWithError(error, socket))
  } else {
    endWithError(error, socket)
  }
}

function endWithError(error: NodeJS.ErrnoException, socket: Socket): void {
  const response = bareError(CLIENT_ERRORS[error.code ?? ''] ?? 'malformed_request')
  const headers = { ...response.headers, 'x-request-id': requestId({ headers: {} }), connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const status = `HTTP/1.1 ${response.status} ${statusName(response.status)}`
  socket.end([status, ...lines, '', response.json].join('\r\n'))
}

/** What a status is called: `Not Found`. */
export function statusName(status: number): string {
  return STATUS_CODES[status] ?? ''
}

/** An error for whoever writes it without Fastify; the request id is added by them. */
export function bareError(code: ErrorCode) {
  const body = errorBody(code)
  const json = JSON.stringify(body)
  const headers: Record<string, string> = {
    ...DATA_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(json)),
    ...(body.status === 503 && { 'retry-after': RETRY_AFTER_SECONDS }),
  }
  return { status: body.status, headers, json }
}
