// Turns every error into a response, including errors of requests that never reach a route.
// Does not decide which error a request gets. The codes and messages are in src/errors.ts.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, errorBody, retryAfter } from '../errors.ts'
import { requestId } from './request-id.ts'
import { DATA_HEADERS, JSON_TYPE } from './security-headers.ts'

/** The error code to respond with, for each code of an error that Fastify throws. */
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
  request.errorCode = known.code
  if (known.status >= 500)
    request.log.error(
      {
        requestId: request.id,
        ...(request.trace && { traceId: request.trace.traceId }),
        err: known.cause ?? known,
        code: known.code,
      },
      'request failed',
    )
  if (known.code === 'unsupported_media_type' && !('accept-encoding' in known.headers)) {
    reply.header('accept', 'application/json')
  }
  // Fastify would close the connection while the client is still sending, so the client could not read the response.
  // Without `Connection: close`, Node discards the rest of the body until the request timeout.
  if (known.code === 'body_too_large') reply.removeHeader('connection')
  reply.headers(DATA_HEADERS)
  reply
    .code(known.status)
    .headers(retryAfter(known.code))
    .headers(known.headers)
    .send(errorBody(known.code, known.details))
}

function toAppError(error: FastifyError | AppError): AppError {
  if (error instanceof AppError) return error
  return new AppError(FRAMEWORK_ERRORS[error.code] ?? 'internal_error', { cause: error })
}

/** The error code to respond with, for each code of an HTTP error in Node. All others are `malformed_request`. */
const CLIENT_ERRORS: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** The last request of each connection. Malformed bytes belong to this request or follow it. */
const requests = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>()

export function noteRequest(request: IncomingMessage, response: ServerResponse): void {
  requests.set(request.socket, { request, response })
}

export function hasSentRequest(socket: Socket): boolean {
  return requests.has(socket)
}

/** Responds to malformed HTTP. Node provides no request and no response for it, only the socket. */
export function sendClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  const last = requests.get(socket)
  const hasResponse = last?.response.headersSent ?? false
  // These bytes belong to a request that already has a response. The client would mistake a second response for the
  // response to its next request.
  const isRestOfRequest = last !== undefined && !last.request.complete && hasResponse
  if (error.code === 'ECONNRESET' || !socket.writable || isRestOfRequest) {
    socket.destroy()
  } else if (last?.request.complete && !last.response.writableFinished) {
    // The previous request is still in flight. Its response must be sent first.
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

/** The reason phrase of a status, such as `Not Found`. */
export function statusName(status: number): string {
  return STATUS_CODES[status] ?? ''
}

/** An error response for code that bypasses Fastify. The caller adds the request id. */
export function bareError(code: ErrorCode) {
  const body = errorBody(code)
  const json = JSON.stringify(body)
  const headers: Record<string, string> = {
    ...DATA_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(json)),
    ...retryAfter(code),
  }
  return { status: body.status, headers, json }
}
