// The one error that a call is refused with, whether the service said no or nobody answered.
import type { ErrorCode, ErrorDetail } from './interface.ts'

/** What went wrong on this side of the service, or on the way to it. */
export type ClientErrorCode =
  /** No connection, or it broke before the whole answer had come; see `cause`. */
  | 'network_error'
  /** No answer within `timeoutMs`, or none within `deadlineMs`. */
  | 'timeout'
  /** Your `signal` was aborted; its reason is the `cause`. */
  | 'aborted'
  /** The answer is not one of Petstore's: a proxy's page, a redirect. */
  | 'unexpected_answer'
  /** An id that is none, or a number that JavaScript has already rounded. Nothing was sent. */
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
  /** What to decide by: a code of the service, or one of `ClientErrorCode`. New ones may come. */
  readonly code: Failure['code']
  /** The HTTP status of the answer; undefined where there was none. */
  readonly status: number | undefined
  /** Every fault of the request that the service named. */
  readonly details: readonly ErrorDetail[]
  /** Finds the last attempt in the logs of the service, also when its answer got lost. */
  readonly requestId: string | undefined
  /** True where a change may have been made, by this attempt or one before it: look before you repeat it. */
  readonly outcomeUnknown: boolean

  constructor(failure: Failure, outcomeUnknown = false) {
    const faults = (failure.details ?? []).map(({ message }) => ` ${message}`)
    super(failure.message + faults.join(''), failure.cause === undefined ? {} : { cause: failure.cause })
    this.code = failure.code
    this.status = failure.status
    this.details = failure.details ?? []
    this.requestId = failure.requestId
    this.outcomeUnknown = outcomeUnknown
  }
}
