// The check `archiving`: whether WAL reaches the backups. If it does not, it fills the disk of the server.
import type { Reader } from '../../db/database.ts'
import { isArchivingFailing, readArchiving } from '../../db/inspect/archiving.ts'
import { ageOf, type Finding } from './finding.ts'

export async function checkArchiving(db: Reader): Promise<Finding> {
  const check = 'archiving'
  const state = await readArchiving(db)
  if (isArchivingFailing(state)) {
    return {
      check,
      state: 'fault',
      message: `PostgreSQL cannot archive WAL; the last success was ${ageOf(state.failingSeconds ?? 0)} ago. A restore loses newer writes, and WAL fills the disk`,
      remedy:
        'Read the log of PostgreSQL. Mount the place of the backups, or free space there; never delete files in pg_wal. See "WAL is not archived" in docs/runbook.md.',
    }
  }
  const message = state.isOn
    ? 'PostgreSQL can archive WAL'
    : 'archive_mode is off: a restore loses all writes since the last backup'
  return { check, state: 'ok', message }
}
