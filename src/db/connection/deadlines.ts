// Timeouts that depend on each other. They must fire in this order: statement, query, request.
// Holds only the numbers; the code that sets each timer is elsewhere.

/** PostgreSQL cancels a statement after this time; deploy/roles.sql sets it for the service's role. */
export const STATEMENT_TIMEOUT_MS = 3_000

/**
 * The service stops waiting for PostgreSQL's response after this time. It is longer than the statement timeout, so
 * PostgreSQL cancels a slow write first and the outcome is known. Only a write that waits for replication reaches this
 * timeout, and its outcome is unknown.
 */
export const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000

/** Max time to open a connection. */
export const CONNECT_TIMEOUT_MS = 2_000

/** Retries start only within this time after the first attempt began. It allows for opening a second connection. */
export const RETRY_FOR_MS = CONNECT_TIMEOUT_MS + 1_000

/** A request without a response after this time gets 503. */
export const RESPONSE_TIMEOUT_MS = 12_000

/** Max wait for a free connection. The rest of the response timeout is for opening a connection and for one query. */
export const CONNECTION_WAIT_MS = RESPONSE_TIMEOUT_MS - CONNECT_TIMEOUT_MS - QUERY_TIMEOUT_MS
