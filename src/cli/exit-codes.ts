// Every exit code of the command line besides 0, so that a script can rely on one meaning for each.

/** The command failed, or the service rejected the request. */
export const EXIT_FAILED = 1
/** An import finished, but some rows were rejected. */
export const EXIT_ROWS_REJECTED = 2
/** EX_TEMPFAIL of sysexits.h: the same command may succeed later. */
export const EXIT_TRY_LATER = 75
/** Ended by Ctrl-C: 128 + SIGINT. */
export const EXIT_INTERRUPTED = 130
