// Every error that the service returns: its code, its HTTP status, its message, and how the client can fix it.
// Messages can change; codes must not.

interface ErrorEntry {
  status: number
  /** Says what is wrong. Sent in the response. */
  message: string
  /** Says what the client can do. Shown in the documentation; may contain `code` in backticks. */
  fix: string
  /** Seconds until a retry can succeed. Sent in the header `Retry-After`, unless the error carries its own. */
  retryAfterSeconds?: number
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
    fix: 'Send well-formed JSON in UTF-8. The message names the line and the column of the first mistake.',
  },
  invalid_body: {
    status: 400,
    message: 'The request body has invalid values; see details.',
    fix: 'Fix the fields listed in `details`, which contains every invalid field.',
  },
  invalid_parameter: {
    status: 400,
    message: 'A query parameter or header is invalid; see details.',
    fix: 'Fix the parameters or headers listed in `details`.',
  },
  unknown_parameter: {
    status: 400,
    message: 'The operation has no query parameter with this name; see details.',
    fix: 'Check the spelling: `details` names the nearest parameter. To send a list, repeat the parameter: `id=1&id=2`.',
  },
  invalid_cursor: {
    status: 400,
    message:
      'The cursor is malformed, or belongs to another list or other filters; restart the list without a cursor.',
    fix: 'Request the first page, without `cursor`. Send the same filters with every page.',
  },
  unknown_category: {
    status: 400,
    message: 'The category is unknown; see details.',
    fix: 'Use the id of a category that has a name, or name the category first: `PUT /v1/categories/{categoryId}`. The operator has set `CATEGORIES=strict`.',
  },
  currency_mismatch: {
    status: 400,
    message: 'The price is in another currency than that of the store; see details.',
    fix: 'Send a new price in the currency of the store, which `details` names. A stored price can keep its currency: send its `price` and its `currency` unchanged.',
  },
  malformed_request: {
    status: 400,
    message: 'The request is not valid HTTP.',
    fix: 'Check your HTTP client and any proxy: one of them sends malformed HTTP.',
  },
  missing_api_key: {
    status: 401,
    message: 'The API key is missing; send "Authorization: Bearer <API_KEY>".',
    fix: 'Send the header `Authorization: Bearer <API_KEY>`.',
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is not valid.',
    fix: 'Send exactly one `Authorization` header, and check the key. It may be mistyped, expired, revoked or for another environment. If so, ask the operator for a new key.',
  },
  insufficient_scope: {
    status: 403,
    message: 'The API key lacks a scope that this operation requires.',
    fix: 'Ask the operator for a key that also has the scopes that the message and the header `WWW-Authenticate` name.',
  },
  sign_in_rejected: {
    status: 403,
    message: 'The request does not come from the sign-in page of this service.',
    fix: 'Send the request from a page of the service, with the headers `Origin` and `X-Petstore-Sign-In: 1`.',
  },
  route_not_found: {
    status: 404,
    message: 'This path does not exist.',
    fix: 'Check the path. The paths of all operations start with `/v1`.',
  },
  pet_not_found: {
    status: 404,
    message: 'No pet has this id.',
    fix: 'Check the id. The pet may have been deleted.',
  },
  order_not_found: {
    status: 404,
    message: 'No order has this id.',
    fix: 'Check the id. `GET /v1/store/orders` lists the orders.',
  },
  entry_not_found: {
    status: 404,
    message: 'No entry has this id.',
    fix: 'Check the id. `GET /v1/store/entries` lists the entries.',
  },
  api_key_not_found: {
    status: 404,
    message: 'No active API key has this id.',
    fix: 'Check the id. A revoked, expired or personal key cannot be rotated, and a personal key cannot be renamed. `GET /v1/api-keys` lists all keys.',
  },
  webhook_not_found: {
    status: 404,
    message: 'No webhook has this id.',
    fix: 'Check the id. `GET /v1/webhooks` lists the webhooks.',
  },
  delivery_not_found: {
    status: 404,
    message: 'The webhook has no delivery with this id.',
    fix: 'Check the id. The service keeps the newest 10,000 deliveries of each webhook.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This path does not support this method; see the Allow header.',
    fix: 'Use a method listed in the header `Allow`.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time.',
    fix: 'Retry, and send the whole request within 10 seconds.',
  },
  idempotency_key_in_use: {
    status: 409,
    message: 'A request with this Idempotency-Key is still in flight; retry after one second.',
    fix: 'Retry after `Retry-After` seconds, with the same `Idempotency-Key`. The first request is still in flight.',
    retryAfterSeconds: 1,
  },
  pet_not_available: {
    status: 409,
    message: 'The pet is not available: it is pending or sold.',
    fix: 'Choose another pet, or wait: `GET /v1/store/orders?petId=N&status=open` (scope `orders:read`) shows until when an order holds this one (`expiresAt`). Without an open order, the pet is sold, or pending until someone changes it.',
  },
  pet_on_hold: {
    status: 409,
    message: 'An open order holds the pet; its status cannot be changed until the order ends.',
    fix: 'Find the open order with `GET /v1/store/orders?petId=N&status=open` (scope `orders:read`). Complete or cancel it only if it is yours (`placedBy`). Otherwise wait until `expiresAt`. If there is none, it has just ended: retry.',
  },
  pet_has_orders: {
    status: 409,
    message: 'The pet cannot be deleted, because it has orders.',
    fix: 'Do not delete the pet. A pet that ever had an order cannot be deleted, even if all its orders are closed.',
  },
  reference_in_use: {
    status: 409,
    message: 'Another pet has this reference.',
    fix: 'Find the other pet with `GET /v1/pets?reference=…`. To change that pet, use `PUT /v1/pets/by-reference/{reference}`. Otherwise choose another reference.',
  },
  invalid_transition: {
    status: 409,
    message: 'A sold pet cannot become pending; make it available first.',
    fix: 'Set the status to `available` first, then to `pending`.',
  },
  order_closed: {
    status: 409,
    message: 'The order is already closed with another status.',
    fix: 'Do not retry. Read the order to see how it ended: `completed`, `cancelled` or `expired`.',
  },
  order_not_sold: {
    status: 409,
    message: 'The order has not sold its pet, or the pet came back.',
    fix: 'Read the order. Only a sale that was neither voided nor taken back can be corrected or refunded. Settle a deposit with `POST /v1/store/orders/{orderId}/settle-deposit`.',
  },
  amount_too_high: {
    status: 409,
    message: 'The amount is higher than what is left to give back.',
    fix: 'Read the order: `netPrice` is what a refund can give back, `deposit` what a settlement can. Another request may have given back a part.',
  },
  entry_final: {
    status: 409,
    message: 'The entry can no longer be voided.',
    fix: 'Write an entry that corrects it instead: a correction, a refund or a settlement, or cash in the other direction. Only the last entry of an order can be voided, within 15 minutes and before its day is closed.',
  },
  day_closed: {
    status: 409,
    message: 'The day is already closed.',
    fix: 'Do not retry. `GET /v1/store/day-closings` shows the closings. What was missed counts for the next day.',
  },
  money_open: {
    status: 409,
    message: 'The currency and the time zone cannot change while money is open.',
    fix: 'Complete or cancel the open orders, which `GET /v1/store/orders?status=open` lists, settle their deposits, and close the days. Then retry. The other settings can change at any time.',
  },
  too_many_webhooks: {
    status: 409,
    message: 'The store already has the max number of webhooks.',
    fix: 'Delete a webhook that you do not need, or ask the operator to raise `WEBHOOKS_MAX`. For many receivers, send the events to a broker: see `examples/nats-relay`.',
  },
  webhook_disabled: {
    status: 409,
    message: 'The webhook is disabled; enable it first.',
    fix: 'Fix the receiver, then enable the webhook: `PATCH /v1/webhooks/{webhookId}` with `{"enabled": true}`.',
  },
  webhook_busy: {
    status: 409,
    message: '100 test events and redeliveries of this webhook are still waiting; retry after a minute.',
    fix: 'Retry after `Retry-After` seconds. To send many events again, use `POST /v1/webhooks/{webhookId}/replay`.',
    retryAfterSeconds: 60,
  },
  operation_removed: {
    status: 410,
    message: 'This operation was removed on 5 December 2030; use GET /v1/pets with the parameter id.',
    fix: 'Use `GET /v1/pets?id=N`.',
  },
  events_expired: {
    status: 410,
    message: 'The events after this position are no longer available; start again from an export.',
    fix: 'Read all pets again, for example with `petstore export --with-position`, and follow the feed from the new position.',
  },
  sign_in_expired: {
    status: 410,
    message: 'The sign-in has expired or was already used; sign in again.',
    fix: 'Start the sign-in again. The page must fetch the key within a minute, and can fetch it once.',
  },
  precondition_failed: {
    status: 412,
    message: 'The pet has changed since you read it; read it again and retry with its new ETag.',
    fix: 'The pet, its profile or the settings have changed since you read them, perhaps by your own first attempt. Read them again (`GET /v1/pets?id=N`, `GET /v1/pets/N/profile`, `GET /v1/store/settings`). If your change still applies, retry with the new `ETag`. A weak `ETag`, such as `W/"3"`, never matches.',
  },
  category_exists: {
    status: 412,
    message: 'The category already has a name, and the request has the header If-None-Match.',
    fix: 'Use another id. To rename the category, send the request without `If-None-Match`.',
  },
  body_too_large: {
    status: 413,
    message: 'The request body is larger than 1 MiB.',
    fix: 'Send a body of at most 1 MiB.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The request body must be application/json in UTF-8, without a content encoding.',
    fix: 'Send `Content-Type: application/json` and UTF-8 text, and do not compress the body.',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'This Idempotency-Key was already used for a different request; use a new key.',
    fix: 'Use a new `Idempotency-Key` for each new pet or order. Reuse a key only to retry the same request.',
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests; see the Retry-After header.',
    fix: 'Retry after `Retry-After` seconds.',
  },
  headers_too_large: {
    status: 431,
    message: 'The request line and headers are larger than 16 KiB.',
    fix: 'Send a request line and headers of at most 16 KiB in total.',
  },
  internal_error: {
    status: 500,
    message: 'The service failed unexpectedly; report the X-Request-Id to the operator.',
    fix: 'Do not retry: this is a bug in the service. Report the `X-Request-Id` to the operator.',
  },
  unavailable: {
    status: 503,
    message: 'The service is temporarily unavailable; nothing was changed. Retry the request.',
    fix: 'Retry after `Retry-After` seconds. Nothing was changed.',
    retryAfterSeconds: 1,
  },
  overloaded: {
    status: 503,
    message: 'The service is overloaded; nothing was changed. Retry the request.',
    fix: 'Retry after `Retry-After` seconds. Nothing was changed.',
    retryAfterSeconds: 1,
  },
  outcome_unknown: {
    status: 503,
    message:
      'It is unknown whether the change was made. Retry with the same Idempotency-Key, or check before you retry.',
    fix: 'Retry with the same `Idempotency-Key`. If you sent none, check whether the change was made before you retry.',
    retryAfterSeconds: 1,
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS

/** Every code in `details`, and what it means. The message of a detail names the field and the limit. */
export const DETAIL_CODES = {
  missing: 'The field is required.',
  wrong_type: 'The value has another JSON type, such as a number instead of a string.',
  invalid_integer: 'The value is not an integer, or is out of its range.',
  out_of_range: 'The number is too small or too large.',
  not_allowed: 'The value is not in the list of values, or cannot be combined with another parameter.',
  too_short: 'The text has too few characters.',
  too_long: 'The text has too many characters.',
  blank: 'The text has only blanks.',
  invalid_text:
    'The text is not well-formed Unicode, or contains NUL or another control character that is not allowed.',
  invalid_format: 'The text does not have the required form.',
  too_few: 'The list has too few entries.',
  too_many: 'The list has too many entries.',
  repeated: 'The list contains an entry twice, or a parameter was sent more than once.',
  invalid_url: 'The value is not a URL that the service can use.',
  invalid_etag: 'The header is not an ETag in quotes.',
  invalid_value: 'The value has the right type, but this operation does not accept it.',
  unknown_time_zone: 'The value is not the name of a time zone.',
  unknown_category: 'No category has this id. The operator has set `CATEGORIES=strict`.',
  currency_mismatch: 'The price is not in the currency of the store, and it is not the stored price.',
  unknown_parameter: 'The operation has no query parameter with this name.',
  unknown_field: 'The body has no field with this name.',
  reserved: 'The name is reserved for the service itself.',
} as const

export type DetailCode = keyof typeof DETAIL_CODES

/** One invalid field of a request, with a code for programs and a message for people. */
export interface ErrorDetail {
  field: string
  code: DetailCode
  message: string
}

export interface ErrorBody {
  code: ErrorCode
  message: string
  status: number
  details?: ErrorDetail[]
}

interface AppErrorOptions {
  /** Replaces the message of the table. Must not quote the request, which can contain secrets. */
  message?: string | undefined
  details?: ErrorDetail[]
  headers?: Record<string, string>
  cause?: unknown
}

/** Thrown to respond with one of the errors above. The cause is logged and never sent to the client. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetail[] | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** The header of an error that a retry can fix. */
export function retryAfter(code: ErrorCode): { 'retry-after'?: string } {
  const { retryAfterSeconds }: ErrorEntry = ERRORS[code]
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
}

/** The body of an error response. Without a message of its own, it has the message of the table. */
export function errorBody(
  code: ErrorCode,
  { message = ERRORS[code].message, details }: { message?: string; details?: ErrorDetail[] | undefined } = {},
): ErrorBody {
  const { status } = ERRORS[code]
  return details === undefined ? { code, message, status } : { code, message, status, details }
}
