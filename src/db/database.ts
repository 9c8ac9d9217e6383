// The database interface for the rest of the service: read, write, transaction.
//
// Words of this folder:
// - primary, standby: of PostgreSQL. A failover makes a standby the primary.
// - incarnation: a server from one start, crash recovery or promotion to the next; see failover/incarnation.ts
// - trusted server: the service knows that no failover can lose what this incarnation shows
// - barrier: a commit that changes no row. If the standbys confirm it, they have all commits before it; its incarnation is trusted
// - generation: the time between two timeouts of a server. A barrier of an earlier generation confirms nothing
// - unacknowledged write: its response did not arrive in time, so it may have committed or not
// - unreplicated commit: it did not wait for a standby, so a failover can lose it

export interface Statement {
  /** PostgreSQL prepares the statement once per connection, under this name. */
  name: string
  text: string
  values: unknown[]
  /**
   * Idempotent write: safe to retry even if the first attempt committed, and harmless if a failover loses it. Ignored inside
   * a transaction.
   */
  isIdempotent?: true
  /**
   * Why the statement cannot read many rows, so that no test needs to look at its plan. Prefer a case in test/slow/plans.test.ts
   * for each statement that reads a table without a limit on its size.
   */
  bounded?: Bound
}

/** What limits the rows that a statement reads. */
type Bound =
  /** A unique key, or a list of unique keys. */
  | 'by unique keys'
  /** An index finds the rows of one pet or one webhook. */
  | 'by one pet or webhook'
  /** It inserts the given rows. */
  | 'by the given rows'
  /** The table stays small. */
  | 'by a small table'
  /** It reads a range of an index that holds only the rows in question. */
  | 'by a narrow index'
  /** It reads no table of the store. */
  | 'without a table'
  /** It runs only on a new database. */
  | 'runs once'

export interface Reader {
  /**
   * Runs a statement that changes no data. Outside a transaction, it is retried if the connection is lost or PostgreSQL
   * rolls back.
   */
  read<Row>(statement: Statement): Promise<Row[]>
}

export interface Writer {
  /**
   * Runs a statement that changes data. Outside a transaction, the statement commits immediately. It is then retried like
   * a read, except if it may have committed: it rejects with `outcome_unknown` unless it is idempotent.
   */
  write<Row>(statement: Statement): Promise<Row[]>
}

/** An open transaction. A function that takes a Tx cannot be called with a Db. */
export interface Tx extends Reader, Writer {
  readonly inTransaction: true
  /** True if an earlier attempt lost its connection. PostgreSQL may still hold the locks of that attempt. */
  readonly isAfterLostConnection: boolean
}

export interface Db extends Reader, Writer {
  /**
   * Runs the work in one transaction. If the connection is lost or PostgreSQL rolls back, calls `work` again, in a new
   * transaction. Rejects with `outcome_unknown` instead if the transaction may have committed.
   */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /**
   * Counts connections and the requests that use them. `waiting`: requests that wait for a connection.
   * `unacknowledged`: writes whose response did not arrive in time. They keep their connections.
   */
  connections(): { total: number; idle: number; waiting: number; unacknowledged: number }
  close(): Promise<void>
}
