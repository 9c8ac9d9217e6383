// The check `restores`: whether a backup was restored and verified lately. deploy/backup/check-restore does so every day.
import { canReadRestoreChecks, readRestoreState } from '../../data/verify/restore-check-queries.ts'
import { PROVEN_SECONDS_AGO_MAX } from '../../data/verify/restore-check-rules.ts'
import type { Reader } from '../../db/database.ts'
import { visible } from '../terminal/terminal.ts'
import { ageOf, type Finding } from './finding.ts'

const READ_LOG =
  'Read the log on the host that checks the backups: journalctl --unit petstore-restore-check. See docs/backups.md.'

/** Finds nothing if the results cannot be read: the checks of the schema and of the privileges then say why. */
export async function checkRestores(db: Reader): Promise<Finding[]> {
  const check = 'restores'
  if (!(await canReadRestoreChecks(db))) return []
  const { provenSecondsAgo, isNewestProven, newestMessage } = await readRestoreState(db)
  const proven =
    provenSecondsAgo === null
      ? 'no backup was ever restored and verified'
      : `a backup was last restored and verified ${ageOf(provenSecondsAgo)} ago`
  if (isNewestProven === null) {
    const remedy =
      'Install deploy/backup/petstore-restore-check.timer: with one server, see docs/production.md, otherwise docs/backups.md.'
    return [{ check, state: 'warning', message: proven, remedy }]
  }
  if (!isNewestProven) {
    const message = `the newest check failed: ${visible(newestMessage ?? '')}; ${proven}`
    return [{ check, state: 'warning', message, remedy: READ_LOG }]
  }
  if (provenSecondsAgo !== null && provenSecondsAgo > PROVEN_SECONDS_AGO_MAX) {
    const remedy = `Check that the timer runs: systemctl list-timers petstore-restore-check.timer. ${READ_LOG}`
    return [{ check, state: 'warning', message: proven, remedy }]
  }
  return [{ check, state: 'ok', message: proven }]
}
