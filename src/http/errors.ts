// Turns every error into a response, including errors of requests that never reach a route.
// Does not decide which error a request gets. The codes and messages are in src/contract/errors.ts.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, errorBody, retryAfter } from '../contract/errors.ts'
import { isNamed, varyBy } from './accepted.ts'
import { connectionOf } from './connections.ts'
import { ERRORS_PAGE } from './page-addresses.ts'
import { requestId } from './request-id.ts'
import { DATA_HEADERS, HTML_TYPE, JSON_TYPE, PAGE_HEADERS } from './security-headers.ts'

/** The error code to respond with, for each code of an error that Fastify throws. All others are `internal_error`. */
const FRAMEWORK_ERRORS: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'malformed_request',
}

/** The origin of the pages, as in `PUBLIC_URL`: empty for links that start with `/`; undefined on a port without pages. */
type PagesOrigin = string | undefined

/** The link to the entry of the code on the page of errors (RFC 8288). */
function helpLink(pagesOrigin: PagesOrigin, code: ErrorCode): { link?: string } {
  return pagesOrigin === undefined ? {} : { link: `<${pagesOrigin}${ERRORS_PAGE}#${code}>; rel="help"` }
}

/**
 * Returns the handler that turns errors into responses.
 * @param notFoundPage The HTML that a browser gets for an address that does not exist. Programs get JSON.
 */
export function errorSender(pagesOrigin: PagesOrigin, notFoundPage?: string) {
  return (error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply): void => {
    const sent = toAppError(error)
    prepareError(sent, request, reply, pagesOrigin)
    const canShowPage =
      notFoundPage !== undefined && sent.code === 'route_not_found' && request.method === 'GET'
    if (canShowPage) varyBy(reply, 'Accept')
    // Browsers name HTML. Programs that accept anything send an asterisk, or no header.
    if (canShowPage && isNamed(request.headers.accept, 'text/html')) {
      reply.headers(PAGE_HEADERS).type(HTML_TYPE).send(notFoundPage)
    } else {
      reply.send(errorBody(sent.code, sent))
    }
  }
}

/** Sets the status and the headers of the response, and notes the error for the log. */
function prepareError(
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  pagesOrigin: PagesOrigin,
): void {
  // For access-log.ts and tracing.ts.
  request.errorCode = error.code
  if (error.status >= 500) logFailure(error, request)
  const { link } = helpLink(pagesOrigin, error.code)
  // The operation may have set links of its own, for example to its successor.
  if (link !== undefined) reply.header('link', [reply.getHeader('link') ?? [], link].flat().join(', '))
  // A 415 names what the service accepts. For a compressed body, json-body.ts names the content encoding instead.
  if (error.code === 'unsupported_media_type' && !('accept-encoding' in error.headers)) {
    reply.header('accept', 'application/json')
  }
  // Fastify would close the connection while the client is still sending, so the client could not read the response.
  // Without `Connection: close`, Node discards the rest of the body until the request timeout.
  if (error.code === 'body_too_large') reply.removeHeader('connection')
  reply.code(error.status).headers(DATA_HEADERS).headers(retryAfter(error.code)).headers(error.headers)
}

function logFailure(error: AppError, request: FastifyRequest): void {
  request.log.error(
    {
      requestId: request.id,
      ...(request.trace && { traceId: request.trace.traceId }),
      err: error.cause ?? error,
      code: error.code,
    },
    'request failed',
  )
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
export function clientErrorSender(pagesOrigin: PagesOrigin) {
  return (error: NodeJS.ErrnoException, socket: Socket) => sendClientError(error, socket, pagesOrigin)
}

function sendClientError(error: NodeJS.ErrnoException, socket: Socket, pagesOrigin: PagesOrigin): void {
  // The last well-formed request of the connection: the malformed bytes are in its body, or follow it.
  const { request, response } = connectionOf(socket) ?? {}
  const isConnectionLost = error.code === 'ECONNRESET' || !socket.writable
  // The malformed bytes belong to the body of a request that already has a response. The client would mistake a second
  // response for the response to its next request.
  const isInBodyAfterResponse = request?.complete === false && response?.headersSent === true
  // The malformed bytes follow a request that is still in flight. Its response must be sent first.
  const isAfterRequestInFlight = request?.complete === true && response?.writableFinished === false
  if (isConnectionLost || isInBodyAfterResponse) {
    socket.destroy()
  } else if (isAfterRequestInFlight) {
    response.once('finish', () => endWithError(error, socket, pagesOrigin))
  } else {
    endWithError(error, socket, pagesOrigin)
  }
}

function endWithError(error: NodeJS.ErrnoException, socket: Socket, pagesOrigin: PagesOrigin): void {
  const response = bareError(CLIENT_ERRORS[error.code ?? ''] ?? 'malformed_request', pagesOrigin)
  // The headers of the request are usually unknown, so the id is always a new one.
  const id = requestId({ headers: {} })
  const headers = { ...response.headers, 'x-request-id': id, connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const status = `HTTP/1.1 ${response.status} ${statusName(response.status)}`
  socket.end([status, ...lines, '', response.json].join('\r\n'))
}

/** The reason phrase of a status, such as `Not Found`. */
export function statusName(status: number): string {
  return STATUS_CODES[status] ?? ''
}

/** An error response that is sent without Fastify. The sender adds the request id. */
export function bareError(code: ErrorCode, pagesOrigin: PagesOrigin) {
  const body = errorBody(code)
  const json = JSON.stringify(body)
  const headers: Record<string, string> = {
    ...DATA_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(json)),
    ...helpLink(pagesOrigin, code),
    ...retryAfter(code),
  }
  return { status: body.status, headers, json }
}
