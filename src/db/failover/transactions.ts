// SQL statements on the transactions of the primary that are not visible yet.
import type { Reader } from '../database.ts'

/** Returns the ids of the transactions that have changed something and are not visible yet. Every role sees them. */
export async function findTransactions(db: Reader): Promise<ReadonlySet<string>> {
  const [row] = await db.read<{ ids: string[] }>({
    name: 'find_transactions',
    text: `select coalesce(array_agg(transactionid::text), '{}') as ids
      from pg_locks where locktype = 'transactionid' and mode = 'ExclusiveLock' and granted`,
    values: [],
  })
  return new Set(row?.ids)
}

/** Returns those that wait for a standby. Other roles hide whether theirs do. */
export async function findWaitingCommits(db: Reader): Promise<ReadonlySet<string>> {
  const rows = await db.read<{ id: string }>({
    name: 'find_waiting_commits',
    text: `select l.transactionid::text as id
      from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted and a.wait_event = 'SyncRep'`,
    values: [],
  })
  return new Set(rows.map(({ id }) => id))
}
