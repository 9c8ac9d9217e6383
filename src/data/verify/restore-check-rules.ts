// Limits of restore checks.

/** How often the service reads the results for its metrics, as often as the other figures of the store. */
export const RESTORE_CHECKS_READ_EVERY_MS = 10_000
export const OLD_RESTORE_CHECKS_DELETED_EVERY_MS = 3_600_000
/** How many results the service keeps: more than a year of daily checks in two places. */
export const RESTORE_CHECKS_KEPT = 1_000
/** The same limits as in migrations/0010_restore_checks.sql. */
export const MESSAGE_LENGTH_MAX = 1_000
export const BACKUP_LENGTH_MAX = 100
/** pgBackRest has no more. */
export const REPOSITORY_MAX = 256
/** The check runs once a day, so two runs in a row have failed after this time. */
export const PROVEN_SECONDS_AGO_MAX = 3 * 86_400
