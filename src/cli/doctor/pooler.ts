// The check `pooler`: whether PgBouncer is in front of PostgreSQL, and whether it supports prepared statements.
import type pg from 'pg'
import { type Pooler, readPooler } from '../../db/inspect/pooler.ts'
import { type Finding, messageOf } from './finding.ts'

const SETTINGS =
  'Use PgBouncer 1.21 or newer, and set pool_mode = transaction and max_prepared_statements = 200 in pgbouncer.ini.'

const FINDINGS: Record<Pooler, Omit<Finding, 'check'>> = {
  none: { state: 'ok', message: 'none: the service connects to PostgreSQL directly' },
  supports_statements: {
    state: 'ok',
    message: 'PgBouncer, or another pooler, is in front of PostgreSQL; prepared statements work',
  },
  session: {
    state: 'ok',
    message:
      'PgBouncer, or another pooler, is in front of PostgreSQL in session mode, so it does not reduce the number of connections',
  },
  breaks_statements: {
    state: 'fault',
    message:
      'PgBouncer, or another pooler, is in front of PostgreSQL and does not support prepared statements: requests fail with 503',
    remedy: SETTINGS,
  },
}

interface PoolerResult {
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
    return { finding: { check, state: 'fault', message, remedy: SETTINGS }, isPooled: true, isLost: true }
  }
}
