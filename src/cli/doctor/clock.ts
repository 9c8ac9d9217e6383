// The check `clock`: whether the clocks of this host and of the database agree.
import type { Client } from 'pg'
import type { Finding } from './finding.ts'

const CLOCK_SKEW_MAX_MS = 2_000

/** The database can have read its clock at any time between the query and its response, which may take long. */
export async function checkClock(client: Pick<Client, 'query'>, now = Date.now): Promise<Finding> {
  const check = 'clock'
  const before = now()
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now')
  const after = now()
  const inDatabase = rows[0]?.now.getTime() ?? 0
  const skew = Math.max(before - inDatabase, inDatabase - after)
  if (skew > CLOCK_SKEW_MAX_MS) {
    return {
      check,
      state: 'warning',
      message: `the clocks of this host and of the database differ by ${Math.round(skew / 1000)} s`,
      remedy: 'Run NTP on both hosts.',
    }
  }
  return { check, state: 'ok', message: 'in sync with the clock of the database' }
}
