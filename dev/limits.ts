// The tables of limits in the docs, built from the constants that enforce the limits.
import { LIST_LIMIT_DEFAULT as API_KEYS_DEFAULT } from '../src/access/api-keys/schema.ts'
import { EXCHANGE_TIMEOUT_MS } from '../src/access/sign-in/provider.ts'
import {
  IN_FLIGHT_MAX as SIGN_IN_REQUESTS_MAX,
  REQUESTS_PER_MINUTE_MAX,
} from '../src/access/sign-in/routes.ts'
import { LIST_LIMIT_MAX, PAGE_BYTES_MAX } from '../src/contract/paging.ts'
import { WAITING_MAX } from '../src/db/batch.ts'
import {
  CONNECT_TIMEOUT_MS,
  CONNECTION_WAIT_MS,
  QUERY_TIMEOUT_MS,
  RESPONSE_TIMEOUT_MS,
  RETRY_FOR_MS,
  STATEMENT_TIMEOUT_MS,
} from '../src/db/connection/deadlines.ts'
import { POOL_QUEUE_MAX } from '../src/db/connection/slots.ts'
import { MEMORY_MAX_BYTES } from '../src/events/delivery/memory.ts'
import { PAGE_BYTES as STREAM_PAGE_BYTES } from '../src/events/feed/stream.ts'
import { STREAMS_PER_KEY_MAX } from '../src/events/feed/streams.ts'
import { BODY_LIMIT_BYTES, LARGE_BODIES_MAX_BYTES, LARGE_BODY_BYTES } from '../src/http/json-body.ts'
import { writesInFlightMax } from '../src/http/overload.ts'
import { LARGE_RESPONSE_BYTES, LARGE_RESPONSES_MAX_BYTES } from '../src/http/response-bytes.ts'
import { STALLED_AFTER_MS } from '../src/http/stalled-responses.ts'
import { PAGE_LIMITS } from '../src/pages/limits.ts'
import {
  CONNECTIONS_MAX,
  HEADERS_LIMIT_BYTES,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
  REQUESTS_IN_FLIGHT_MAX,
} from '../src/server/app.ts'
import { HARD_EXIT_AFTER_MS } from '../src/server/shutdown.ts'
import { LIST_LIMIT_DEFAULT as CATEGORIES_DEFAULT } from '../src/store/categories/schema.ts'
import { LIMIT_DEFAULT as HISTORY_DEFAULT } from '../src/store/history/routes.ts'
import { LIST_LIMIT_DEFAULT as ORDERS_DEFAULT } from '../src/store/orders/schema.ts'
import { EXPORT_LIMITS } from '../src/store/pet-export/exports.ts'
import { LIST_LIMIT_DEFAULT as PETS_DEFAULT } from '../src/store/pets/schema.ts'
import { LIST_LIMIT_DEFAULT as TILL_DEFAULT } from '../src/store/till/schema.ts'
import { UNWRITTEN_MAX_CHARACTERS } from '../src/telemetry/log-writer.ts'
import { SPANS_QUEUED_MAX } from '../src/telemetry/tracing/tracing.ts'

const KIB = 1_024
const MIB = KIB * KIB

const count = (value: number) => value.toLocaleString('en-US')
const seconds = (ms: number) => `${count(ms / 1_000)} s`
const bytes = (value: number) => (value < MIB ? `${count(value / KIB)} KiB` : `${count(value / MIB)} MiB`)

/** Limits of one process: what is limited, the limit, and what happens when it is exceeded. */
export const PROCESS_LIMITS: string[][] = [
  ['Size of a request body', bytes(BODY_LIMIT_BYTES), '413 `body_too_large`'],
  ['Size of the request line and headers', bytes(HEADERS_LIMIT_BYTES), '431 `headers_too_large`'],
  [
    `Total size of all request bodies larger than ${bytes(LARGE_BODY_BYTES)}`,
    bytes(LARGE_BODIES_MAX_BYTES),
    '503 `overloaded`',
  ],
  [
    `Total size of all responses larger than ${bytes(LARGE_RESPONSE_BYTES)} that clients have not accepted yet`,
    bytes(LARGE_RESPONSES_MAX_BYTES),
    '503 `overloaded`',
  ],
  [
    'Size of a page of events or of a history, without its last entry',
    bytes(PAGE_BYTES_MAX),
    'the page ends, its `Link` continues there',
  ],
  ['Time to receive the headers of a request', seconds(HEADERS_TIMEOUT_MS), '408 `request_timeout`'],
  ['Time to receive a whole request', seconds(REQUEST_TIMEOUT_MS), '408 `request_timeout`'],
  [
    'Time from the start of a request to its response',
    seconds(RESPONSE_TIMEOUT_MS),
    '503 `unavailable` for a read, 503 `outcome_unknown` for a write',
  ],
  ['Time without progress while a client reads its response', seconds(STALLED_AFTER_MS), 'connection reset'],
  ['Idle time of a connection', seconds(KEEP_ALIVE_TIMEOUT_MS), 'connection closed'],
  ['Open client connections', count(CONNECTIONS_MAX), 'new connections closed'],
  ['Requests in flight', count(REQUESTS_IN_FLIGHT_MAX), '503 `overloaded`'],
  ['Writes in flight', count(writesInFlightMax(REQUESTS_IN_FLIGHT_MAX)), '503 `overloaded`'],
  [
    'Bytes in memory for the client of a stream of events, without the last event',
    bytes(STREAM_PAGE_BYTES),
    'the stream goes on when the client has read them',
  ],
  ['Streams of events', '`EVENT_STREAMS_MAX`', '503 `overloaded`'],
  ['Streams of events of one API key', count(STREAMS_PER_KEY_MAX), '429 `rate_limited`'],
  ['Exports', count(EXPORT_LIMITS.max), '503 `overloaded`'],
  ['Pets in memory of an export', count(LIST_LIMIT_MAX), 'the export goes on when the client has read them'],
  ['Exports of one API key', count(EXPORT_LIMITS.perKeyMax), '429 `rate_limited`'],
  ['Time to send an export', seconds(EXPORT_LIMITS.timeoutMs), 'connection reset'],
  [
    'Requests in flight for pages (the console, `/docs` and their files)',
    count(PAGE_LIMITS.inFlightMax),
    'the oldest one of the client address with the most is closed',
  ],
  ['Time to send a page', seconds(PAGE_LIMITS.takenWithinMs), 'connection closed'],
  ['Requests of sign-ins in flight', count(SIGN_IN_REQUESTS_MAX), 'error `overloaded`'],
  [
    'Requests of sign-ins per minute and client address',
    count(REQUESTS_PER_MINUTE_MAX),
    'error `rate_limited`',
  ],
  [
    'Time to verify a person at the identity provider',
    seconds(EXCHANGE_TIMEOUT_MS),
    'error `provider_unavailable`',
  ],
  ['Requests waiting for the next batch, per kind of batch', count(WAITING_MAX), '503 `overloaded`'],
  ['Requests waiting for a database connection', count(POOL_QUEUE_MAX), '503 `overloaded`'],
  ['Time that a request waits for a database connection', seconds(CONNECTION_WAIT_MS), '503 `overloaded`'],
  ['Time to open a database connection', seconds(CONNECT_TIMEOUT_MS), 'the service retries'],
  ['Time to retry a failed database operation', seconds(RETRY_FOR_MS), '503 `unavailable`'],
  [
    'Duration of a statement in PostgreSQL (set by `deploy/roles.sql`)',
    seconds(STATEMENT_TIMEOUT_MS),
    'statement cancelled, 503 `unavailable`',
  ],
  [
    'Wait for a response from PostgreSQL',
    seconds(QUERY_TIMEOUT_MS),
    '503 `unavailable`; for a commit, 503 `outcome_unknown`',
  ],
  [
    'Database connections that writes use',
    'three quarters of `DATABASE_POOL_SIZE`, rounded down, at least 1',
    'further writes wait',
  ],
  [
    'Events, waiting messages and messages in flight of `petstore deliver`, in memory',
    bytes(MEMORY_MAX_BYTES),
    'webhooks wait before they read on or send; an event that has no room is read again when it is sent',
  ],
  [
    'Log lines in memory that are not written yet',
    bytes(UNWRITTEN_MAX_CHARACTERS),
    'lines dropped and counted',
  ],
  [
    'Spans that wait for an export, with [tracing](../monitoring.md#traces)',
    count(SPANS_QUEUED_MAX),
    'spans dropped',
  ],
  [
    'Duration of a shutdown after `SHUTDOWN_GRACE_MS`',
    seconds(HARD_EXIT_AFTER_MS),
    'process exits with code 1',
  ],
]

/** For each list: its sort order, and the number of entries on a page if the request has no `limit`. */
export const LIST_DEFAULTS: string[][] = [
  ['pets', 'newest first', count(PETS_DEFAULT)],
  ['pets filtered by `id`', 'newest first', count(LIST_LIMIT_MAX)],
  ['pets searched by `name`', 'by name, then by id', count(PETS_DEFAULT)],
  ['pets searched by `word`', 'newest first; a page can be short', count(PETS_DEFAULT)],
  ['history', 'newest first; the last entry is `created`; a page can be short', count(HISTORY_DEFAULT)],
  ['orders', 'newest first', count(ORDERS_DEFAULT)],
  [
    'open orders with `sort=expiresAt`',
    'the order that expires next first, then by id',
    count(ORDERS_DEFAULT),
  ],
  [
    'completed orders with `sort=closedAt`',
    'the order that was completed last first, then by id, newest first',
    count(ORDERS_DEFAULT),
  ],
  ['entries of the till', 'by day, the newest first', count(TILL_DEFAULT)],
  ['closings of days', 'the newest day first', count(TILL_DEFAULT)],
  ['categories', 'by id; only categories that have a name or a pet', count(CATEGORIES_DEFAULT)],
  ['API keys', 'newest first, including revoked keys', count(API_KEYS_DEFAULT)],
]
