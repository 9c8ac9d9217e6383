// The process id of the backend of a connection, which node-postgres knows but does not declare.
import type pg from 'pg'

/** Behind PgBouncer it is not the process id of PostgreSQL's backend. */
export function backendPid(client: pg.ClientBase): number {
  return (client as pg.ClientBase & { processID: number }).processID
}
