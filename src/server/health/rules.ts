// Limits of the health report, and what timers of the operator can report.

/** Each has one row, which a new report replaces. The same names as in migrations/0010_restore_checks.sql. */
export type ReportName = 'backup' | 'secondPlace' | 'disk' | 'certificate'

/** The same limit as in migrations/0010_restore_checks.sql. */
export const NOTE_LENGTH_MAX = 200

const DAY_SECONDS = 86_400
/** Backups run once a day, so two in a row have failed after this time. deploy/backup/check-restore has the same limit. */
export const BACKUP_SECONDS_AGO_MAX = 2 * DAY_SECONDS
/** An older value of a disk or a certificate says nothing about now. */
export const REPORT_SECONDS_AGO_MAX = 3 * DAY_SECONDS
/** Certificates are renewed weeks before they expire, so the renewal fails. */
export const CERTIFICATE_SECONDS_LEFT_MIN = 10 * DAY_SECONDS
/** PostgreSQL stops if it cannot write WAL. */
export const DISK_USED_SHARE_MAX = 0.85
