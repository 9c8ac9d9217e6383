// Whether a standby has each write when the service acknowledges it, as a few numbers for operators.
import type { Reader } from '../../db/database.ts'
import { readReplication, requiredStandbys } from '../../db/inspect/replication.ts'

/** The values of `synchronous_commit` with which a commit waits for a standby. */
const WAITING: ReadonlySet<string> = new Set(['on', 'remote_write', 'remote_apply'])

export interface ReplicationState {
  connected: number
  /** How many standbys must confirm a commit; 0 if a commit waits for none. */
  required: number
}

export async function readReplicationState(db: Reader): Promise<ReplicationState> {
  const { connected, synchronousCommit, synchronousStandbyNames } = await readReplication(db)
  const waits = WAITING.has(synchronousCommit)
  return { connected, required: waits ? requiredStandbys(synchronousStandbyNames) : 0 }
}
