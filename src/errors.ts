// Every error that a client can be told: its code, its HTTP status, one public sentence and what to do about it.
// Nothing here knows about HTTP frameworks or the database; the sentences may change, a code may not.

interface ErrorEntry {
  status: number
  /** What is wrong. It is sent with every such answer. */
  message: string
  /** What the client does about it, for the documentation; `code` stands between backticks. */
  fix: string
}

export const ERRORS = {
  missing_body: {
    status: 400,
    message: 'The request needs a JSON body.',
    fix: 'Send a JSON body.',
  },
  invalid_json: {
    status: 400,
    message: 'The request body is not valid JSON in UTF-8.',
    fix: 'Send well-formed JSON in UTF-8.',
  },
  invalid_body: {
    status: 400,
    message: 'The request body has invalid values; see details.',
    fix: 'Mend the fields that `details` names; it names all of them at once.',
  },
  invalid_parameter: {
    status: 400,
    message: 'A query parameter or header is invalid; see details.',
    fix: 'Mend the parameter or header that `details` names.',
  },
  invalid_cursor: {
    status: 400,
    message: 'The cursor is not one of ours or was made with other filters; start again without it.',
    fix: 'Start the list again without `cursor`; keep the filters the same during a walk.',
  },
  unknown_category: {
    status: 400,
    message: 'No category with that id exists; see details.',
    fix: 'Use the id of a named category; the operator has set `CATEGORIES=strict`.',
  },
  malformed_request: {
    status: 400,
    message: 'The request is not valid HTTP.',
    fix: 'Look at your client or proxy: what arrived is not valid HTTP.',
  },
  missing_api_key: {
    status: 401,
    message: 'Send an API key: "Authorization: Bearer <API_KEY>".',
    fix: 'Send `Authorization: Bearer <API_KEY>`, once.',
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is not valid.',
    fix: 'The key is mistyped, expired, revoked or of the other environment: ask for a new one.',
  },
  insufficient_scope: {
    status: 403,
    message: 'The API key lacks the scope that this operation needs.',
    fix: 'Ask for a key with the scope that `WWW-Authenticate` names.',
  },
  route_not_found: {
    status: 404,
    message: 'There is nothing at this address.',
    fix: 'Look at the path; it starts with `/v1`.',
  },
  pet_not_found: {
    status: 404,
    message: 'No animal has that id.',
    fix: 'Check the id, and whether somebody has deleted the animal.',
  },
  order_not_found: {
    status: 404,
    message: 'No order has that id.',
    fix: 'Check the id: `GET /v1/store/orders` lists the orders.',
  },
  api_key_not_found: {
    status: 404,
    message: 'No working API key has that id.',
    fix: 'Check the id, and whether the key was revoked: `GET /v1/api-keys` lists the keys.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This address does not answer that method; see the Allow header.',
    fix: 'Use a method of the `Allow` header.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time.',
    fix: 'Send the whole request within 10 seconds.',
  },
  idempotency_key_in_use: {
    status: 409,
    message: 'A request with this Idempotency-Key is still running; repeat it in a moment.',
    fix: 'The first request still runs: repeat it in a moment.',
  },
  pet_not_available: {
    status: 409,
    message: 'The animal is not available: it is held by another order, or sold.',
    fix: 'Choose another animal, or wait until its hold ends.',
  },
  pet_on_hold: {
    status: 409,
    message: 'An open order holds the animal; its status changes only through that order.',
    fix: 'Complete or cancel the open order of the animal.',
  },
  pet_has_orders: {
    status: 409,
    message: 'The animal has had an order, so it cannot be deleted.',
    fix: 'Keep the animal: its orders refer to it.',
  },
  invalid_transition: {
    status: 409,
    message: 'A sold animal cannot become pending; make it available first.',
    fix: 'Make a sold animal `available` first.',
  },
  order_closed: {
    status: 409,
    message: 'The order has already ended in another way.',
    fix: 'Read the order: it was completed, cancelled or ran out.',
  },
  operation_removed: {
    status: 410,
    message: 'This operation was removed on 5 December 2030; use GET /v1/pets with id.',
    fix: 'Use `GET /v1/pets?id=N`.',
  },
  precondition_failed: {
    status: 412,
    message: 'The animal has changed since you read it; read it again and compare.',
    fix: 'Read the animal again, and repeat with its new `ETag`.',
  },
  body_too_large: {
    status: 413,
    message: 'The request body is larger than 1 MiB.',
    fix: 'Send at most 1 MiB.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'Send the body as application/json in UTF-8, without a content encoding.',
    fix: 'Send `Content-Type: application/json` in UTF-8, not compressed.',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'This Idempotency-Key was used for a request with other values; use a new one.',
    fix: 'Use a new `Idempotency-Key` for other values.',
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests; see Retry-After.',
    fix: 'Wait for `Retry-After` seconds.',
  },
  headers_too_large: {
    status: 431,
    message: 'The request line and headers are larger than 16 KiB.',
    fix: 'Send at most 16 KiB of headers.',
  },
  internal_error: {
    status: 500,
    message: 'Something went wrong on our side; the request id finds it in our logs.',
    fix: 'A fault of ours: tell the operator the `X-Request-Id`.',
  },
  unavailable: {
    status: 503,
    message: 'The service cannot reach its database; nothing was changed. Repeat the request.',
    fix: 'Nothing was changed: repeat after `Retry-After`.',
  },
  overloaded: {
    status: 503,
    message: 'The service is busy; nothing was changed. Repeat the request.',
    fix: 'Nothing was changed: repeat after `Retry-After`.',
  },
  outcome_unknown: {
    status: 503,
    message: 'It is not known whether the change was made. Repeat it with the same Idempotency-Key, or look.',
    fix: 'Repeat with the same `Idempotency-Key`; without one, look before you repeat.',
  },
} as const satisfies Record<string, ErrorEntry>

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
