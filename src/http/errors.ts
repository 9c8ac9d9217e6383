// Turns every error into a response, including errors of requests that never reach a route.
// Does not decide which error a request gets. The codes and messages are in src/contract/errors.ts.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, errorBody, retryAfter } from '../contract/errors.ts'
import { connectionOf } from './connections.ts'
import { ERRORS_PAGE } from './page-addresses.ts'
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

/** The origin of the pages, as in `PUBLIC_URL`: empty for links that start with `/`; undefined on a port without pages. */
type PagesAt = string | undefined

/** The link to the entry of the code on the page of errors (RFC 8288). */
function helpLink(pagesAt: PagesAt, code: ErrorCode): { link?: string } {
  return pagesAt === undefined ? {} : { link: `<${pagesAt}${ERRORS_PAGE}#${code}>; rel="help"` }
}

/** Returns the handler that turns errors into responses. */
export function errorSender(pagesAt: PagesAt) {
  return (error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply): void => {
    const known = toAppError(error)
    const { link } = helpLink(pagesAt, known.code)
    // getPet already has links to its successor and its deprecation.
    if (link !== undefined) reply.header('link', [reply.getHeader('link') ?? [], link].flat().join(', '))
    sendError(known, request, reply)
  }
}

function sendError(known: AppError, request: FastifyRequest, reply: FastifyReply): void {
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
    .send(errorBody(known.code, known))
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

/** Returns the handler of malformed HTTP. Node provides no request and no response for it, only the socket. */
export function clientErrorSender(pagesAt: PagesAt) {
  return (error: NodeJS.ErrnoException, socket: Socket) => sendClientError(error, socket, pagesAt)
}

function sendClientError(error: NodeJS.ErrnoException, socket: Socket, pagesAt: PagesAt): void {
  const { request, response } = connectionOf(socket) ?? {}
  const hasResponse = response?.headersSent ?? false
  // These bytes belong to a request that already has a response. The client would mistake a second response for the
  // response to its next request.
  const isRestOfRequest = request?.complete === false && hasResponse
  if (error.code === 'ECONNRESET' || !socket.writable || isRestOfRequest) {
    socket.destroy()
  } else if (request?.complete && response?.writableFinished === false) {
    // The previous request is still in flight. Its response must be sent first.
    response.once('finish', () => endWithError(error, socket, pagesAt))
  } else {
    endWithError(error, socket, pagesAt)
  }
}

function endWithError(error: NodeJS.ErrnoException, socket: Socket, pagesAt: PagesAt): void {
  const response = bareError(CLIENT_ERRORS[error.code ?? ''] ?? 'malformed_request', pagesAt)
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
export function bareError(code: ErrorCode, pagesAt: PagesAt) {
  const body = errorBody(code)
  const json = JSON.stringify(body)
  const headers: Record<string, string> = {
    ...DATA_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(json)),
    ...helpLink(pagesAt, code),
    ...retryAfter(code),
  }
  return { status: body.status, headers, json }
}
