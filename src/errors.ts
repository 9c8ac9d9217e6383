// Every error that a client can be told: its code, its HTTP status and one public sentence.
// Nothing here knows about HTTP frameworks or the database; the sentence may change, a code may not.

export const ERRORS = {
  missing_body: { status: 400, message: 'The request needs a JSON body.' },
  invalid_json: { status: 400, message: 'The request body is not valid JSON in UTF-8.' },
  invalid_body: { status: 400, message: 'The request body has invalid values; see details.' },
  invalid_parameter: { status: 400, message: 'A query parameter or header is invalid; see details.' },
  invalid_cursor: {
    status: 400,
    message: 'The cursor is not one of ours or was made with other filters; start again without it.',
  },
  unknown_category: { status: 400, message: 'No category with that id exists; see details.' },
  malformed_request: { status: 400, message: 'The request is not valid HTTP.' },
  missing_api_key: { status: 401, message: 'Send an API key: "Authorization: Bearer <API_KEY>".' },
  invalid_api_key: { status: 401, message: 'The API key is not valid.' },
  insufficient_scope: { status: 403, message: 'The API key lacks the scope that this operation needs.' },
  route_not_found: { status: 404, message: 'There is nothing at this address.' },
  pet_not_found: { status: 404, message: 'No animal has that id.' },
  order_not_found: { status: 404, message: 'No order has that id.' },
  api_key_not_found: { status: 404, message: 'No working API key has that id.' },
  method_not_allowed: {
    status: 405,
    message: 'This address does not answer that method; see the Allow header.',
  },
  request_timeout: { status: 408, message: 'The request did not arrive in time.' },
  idempotency_key_in_use: {
    status: 409,
    message: 'A request with this Idempotency-Key is still running; repeat it in a moment.',
  },
  pet_not_available: {
    status: 409,
    message: 'The animal is not available: it is held by another order, or sold.',
  },
  pet_on_hold: {
    status: 409,
    message: 'An open order holds the animal; its status changes only through that order.',
  },
  pet_has_orders: { status: 409, message: 'The animal has had an order, so it cannot be deleted.' },
  invalid_transition: {
    status: 409,
    message: 'A sold animal cannot become pending; make it available first.',
  },
  order_closed: { status: 409, message: 'The order has already ended in another way.' },
  operation_removed: {
    status: 410,
    message: 'This operation was removed on 5 December 2030; use GET /v1/pets with id.',
  },
  precondition_failed: {
    status: 412,
    message: 'The animal has changed since you read it; read it again and compare.',
  },
  body_too_large: { status: 413, message: 'The request body is larger than 1 MiB.' },
  unsupported_media_type: {
    status: 415,
    message: 'Send the body as application/json in UTF-8, without a content encoding.',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'This Idempotency-Key was used for a request with other values; use a new one.',
  },
  rate_limited: { status: 429, message: 'Too many requests for this API key; see Retry-After.' },
  headers_too_large: { status: 431, message: 'The request line and headers are larger than 16 KiB.' },
  internal_error: {
    status: 500,
    message: 'Something went wrong on our side; the request id finds it in our logs.',
  },
  unavailable: {
    status: 503,
    message: 'The service cannot reach its database; nothing was changed. Repeat the request.',
  },
  overloaded: { status: 503, message: 'The service is busy; nothing was changed. Repeat the request.' },
  outcome_unknown: {
    status: 503,
    message: 'It is not known whether the change was made. Repeat it with the same Idempotency-Key, or look.',
  },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof ERRORS

/** One fault of a request: which field, a stable code, and a sentence for a person. */
export interface ErrorDetail {
  field: string
  code: string
  message: string
}

export interface ErrorBody {
  code: ErrorCode
  message: string
  status: number
  details?: ErrorDetail[]
}

interface AppErrorOptions {
  details?: ErrorDetail[]
  headers?: Record<string, string>
  cause?: unknown
}

/** What a hook or the domain throws when a client must be told something; its cause is for the log alone. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetail[] | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(ERRORS[code].message, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

export function errorBody(code: ErrorCode, details?: ErrorDetail[]): ErrorBody {
  const { status, message } = ERRORS[code]
  return details === undefined ? { code, message, status } : { code, message, status, details }
}
