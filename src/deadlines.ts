// Timeouts that depend on each other. They must fire in this order: a statement, a query, a request.

/** PostgreSQL cancels a statement after this time; deploy/roles.sql sets it for the service's role. */
export const STATEMENT_TIMEOUT_MS = 3_000

/**
 * The service stops waiting for PostgreSQL's response. Longer than the statement timeout: a slow write is then
 * cancelled and rejected, and only a write that waits for replication has an unknown outcome.
 */
export const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000

/** Opening a new connection. */
export const CONNECT_TIMEOUT_MS = 2_000

/** How long failed attempts may be retried, counted from the first one: long enough for a second connection. */
export const RETRY_FOR_MS = CONNECT_TIMEOUT_MS + 1_000

/** A request without a response after this time gets 503. */
export const RESPONSE_TIMEOUT_MS = 12_000

/** Waiting for a free connection; a connection and one query after it still fit into the request's deadline. */
export const CONNECTION_WAIT_MS = RESPONSE_TIMEOUT_MS - CONNECT_TIMEOUT_MS - QUERY_TIMEOUT_MS
