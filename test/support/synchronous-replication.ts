// Makes the commits of a real PostgreSQL wait for a synchronous standby that does not exist, and stops that.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from './database.ts'
import { until } from './until.ts'

export function synchronousReplication(databaseUrl: string) {
  /** From now on, commits wait for the standby of this name; '' stops that. */
  async function standby(name: string): Promise<void> {
    await sql(databaseUrl, `alter system set synchronous_standby_names = '${name}'`)
    await sql(databaseUrl, 'select pg_reload_conf()')
    // New connections have the new setting as soon as the server has read it.
    const text = `select current_setting('synchronous_standby_names') = '${name}' as "isSet"`
    await until(async () => (await sql<{ isSet: boolean }>(databaseUrl, text))[0]?.isSet === true)
    // Commits wait only when the checkpointer has read it too.
    if (name !== '') await until(doesCommitWait)
  }

  /** Commits a message that nothing reads, and cancels the wait for a standby if there is one. */
  async function doesCommitWait(): Promise<boolean> {
    const before = await waitingBackends()
    let isWaiting = false
    const committing = sql(databaseUrl, `select pg_logical_emit_message(true, 'test', '')`)
    const isDone = () => Promise.race([committing.then(() => true), sleep(10, false)])
    while (!(await isDone())) {
      if ((await waitingBackends()) === before) continue
      isWaiting = true
      await sql(
        databaseUrl,
        `select pg_cancel_backend(pid) from pg_stat_activity
          where wait_event = 'SyncRep' and query like '%(true, ''test''%'`,
      )
    }
    return isWaiting
  }

  async function waitingBackends(): Promise<number> {
    const text = `select from pg_stat_activity where wait_event = 'SyncRep'`
    return (await sql(databaseUrl, text)).length
  }

  /** Cancels the commit that waits for a standby, as soon as there is one. */
  async function cancelWaiting(): Promise<void> {
    const text = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`
    await until(async () => (await sql(databaseUrl, text)).length > 0)
  }

  return { standby, waitingBackends, cancelWaiting }
}
