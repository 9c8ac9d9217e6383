// Makes a transaction that has only read wait for the standbys, so that a failover cannot lose what it read.
import type { Tx } from './database.ts'
import { BARRIER } from './failover/incarnation.ts'

/** A statement for a transaction that has only read: its commit then waits until a standby has all that it read. */
export const DURABLE_READ = `select ${BARRIER}`

/** Makes the commit of this transaction wait for the standbys, although the transaction has only read. */
export async function waitForStandbys(tx: Tx): Promise<void> {
  await tx.write({ name: 'wait_for_standbys', bounded: 'without a table', text: DURABLE_READ, values: [] })
}
