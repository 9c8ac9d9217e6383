// The check `pooler`: whether PgBouncer is in front of PostgreSQL, and whether it keeps sessions.
import type pg from 'pg'
import { type Pooler, readPooler, TRANSACTION_POOLING } from '../../db/connection/pooler.ts'
import { type Finding, messageOf } from './finding.ts'

const FINDINGS: Record<Pooler, Omit<Finding, 'check'>> = {
  none: { state: 'ok', message: 'none: the service connects to PostgreSQL directly' },
  session: {
    state: 'ok',
    message:
      'PgBouncer, or another pooler, is in front of PostgreSQL in session mode, so it does not reduce the number of connections',
  },
  transaction: { state: 'fault', ...TRANSACTION_POOLING },
}

export interface PoolerResult {
  finding: Finding
  isPooled: boolean
  /** True if the pooler may have closed the connection, so that further checks would fail. */
  isLost: boolean
}

/** `connect` opens a second connection to the same database. */
export async function checkPooler(
  client: pg.Client,
  connect: () => Promise<pg.Client>,
): Promise<PoolerResult> {
  const check = 'pooler'
  try {
    const pooler = await readPooler(client, connect)
    return { finding: { check, ...FINDINGS[pooler] }, isPooled: pooler !== 'none', isLost: false }
  } catch (error) {
    const message = `PgBouncer, or another pooler, is in front of PostgreSQL and failed: ${messageOf(error)}`
    const { remedy } = TRANSACTION_POOLING
    return { finding: { check, state: 'fault', message, remedy }, isPooled: true, isLost: true }
  }
}
