// The check `waits`: whether a lock of another session blocks the service, or its commits wait for a standby.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reader } from '../../db/database.ts'
import { describeSession } from '../../db/inspect/blockers.ts'
import { type LockHolder, readWaits } from '../../db/inspect/waits.ts'
import { countOf } from '../../values/count-text.ts'
import type { Finding } from './finding.ts'

/** A wait that lasts longer is not normal: the role of the service has a `lock_timeout` of 1 s. */
const NORMAL_WAIT_MS = 1_500

const check = 'waits'

export async function checkWaits(db: Reader): Promise<Finding> {
  const none = { check, state: 'ok', message: 'no lock blocks the service, and no commit waits' } as const
  const first = await readWaits(db)
  if (first.holders.length === 0 && first.commits.length === 0) return none
  await sleep(NORMAL_WAIT_MS)
  const second = await readWaits(db)
  // Under load, two short transactions of one session can each block others for a moment.
  const holders = second.holders.filter(({ pid, startedAt }) =>
    first.holders.some((holder) => holder.pid === pid && holder.startedAt === startedAt),
  )
  const commits = second.commits.filter((commit) => first.commits.includes(commit))
  // A commit that waits for a standby holds the locks of its rows: the standby is the cause.
  if (commits.length > 0) {
    return {
      check,
      state: 'fault',
      message: `${countOf(commits.length, 'commit')} of the service waited longer than ${NORMAL_WAIT_MS / 1000} s for a standby`,
      remedy:
        'Check that the synchronous standbys run and are not frozen: "No standby confirms writes" in docs/runbook.md.',
    }
  }
  const [holder] = holders
  return holder === undefined ? none : toFinding(holder, holders.length - 1)
}

function toFinding(holder: LockHolder, others: number): Finding {
  const { pid, tables } = holder
  const locked = tables.length === 0 ? 'locks rows that the service needs' : `locks ${tables.join(', ')}`
  return {
    check,
    state: 'fault',
    message: `${describeSession(holder)} ${locked}${others > 0 ? `, and ${countOf(others, 'other session')} too` : ''}: requests fail with 503`,
    remedy:
      pid === 0
        ? 'As a superuser, read pg_prepared_xacts, and commit or roll back the transaction.'
        : `If that session can be ended, run as a superuser: select pg_terminate_backend(${pid})`,
  }
}
