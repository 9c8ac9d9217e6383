// The exit codes of all commands. Each code has one meaning, so that scripts can rely on it.

/** The command failed, or the service rejected the request. */
export const EXIT_FAILED = 1
/** An import finished, but some rows were rejected. */
export const EXIT_ROWS_REJECTED = 2
/** A temporary error: a retry may succeed. The number is EX_TEMPFAIL of sysexits.h. */
export const EXIT_TRY_LATER = 75
/** Stopped by Ctrl-C: 128 + SIGINT. */
export const EXIT_INTERRUPTED = 130
