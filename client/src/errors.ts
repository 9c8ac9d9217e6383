// The error that every failed call throws, whether the service rejected the request or could not be reached.
import type { ErrorCode, ErrorDetail } from './interface.ts'

/** Codes of errors of the client or the network. `ErrorCode` lists the codes that the service returns. */
export type ClientErrorCode =
  /** No connection could be opened, or the connection was lost before the response was complete; see `cause`. */
  | 'network_error'
  /** No response within `timeoutMs` or `deadlineMs`. */
  | 'timeout'
  /** Your `signal` was aborted; its reason is the `cause`. */
  | 'aborted'
  /** The response is not from Petstore, such as an error page of a proxy or a redirect. */
  | 'unexpected_answer'
  /** You passed a value that is not an id, or a number that JavaScript may have rounded. No request was sent. */
  | 'invalid_id'

export interface Failure {
  code: ErrorCode | ClientErrorCode | (string & {})
  message: string
  status?: number | undefined
  details?: readonly ErrorDetail[] | undefined
  requestId?: string | undefined
  cause?: unknown
}

export class PetstoreError extends Error {
  override readonly name = 'PetstoreError'
  /** Identifies the error: an `ErrorCode` of the service or a `ClientErrorCode`. New codes can be added. */
  readonly code: Failure['code']
  /** HTTP status of the response; undefined if there was no response. */
  readonly status: number | undefined
  /** All problems that the service found in the request. */
  readonly details: readonly ErrorDetail[]
  /** Identifies the last attempt in the logs of the service, even if its response was lost. */
  readonly requestId: string | undefined
  /** True if an attempt may have made the change. Check whether it did before you retry the call. */
  readonly outcomeUnknown: boolean

  constructor(failure: Failure, outcomeUnknown = false) {
    const details = (failure.details ?? []).map(({ message }) => ` ${message}`)
    super(failure.message + details.join(''), failure.cause === undefined ? {} : { cause: failure.cause })
    this.code = failure.code
    this.status = failure.status
    this.details = failure.details ?? []
    this.requestId = failure.requestId
    this.outcomeUnknown = outcomeUnknown
  }
}
