// The SQLSTATE codes that Petstore distinguishes, by their names in the manual of PostgreSQL. A code of two or three
// characters is a class: it begins the codes of all its errors.

export const PRIVILEGE_NOT_GRANTED = '01007'
export const CONNECTION_EXCEPTION_CLASS = '08'
/** For example, a time zone that PostgreSQL does not know. */
export const INVALID_PARAMETER_VALUE = '22023'
export const UNIQUE_VIOLATION = '23505'
/** A standby, or a primary that was just demoted. */
export const READ_ONLY_TRANSACTION = '25006'
/** This process was blocked or paused. */
export const IDLE_IN_TRANSACTION_TIMEOUT = '25P03'
export const TRANSACTION_TIMEOUT = '25P04'
/** The role or its password. */
export const INVALID_AUTHORIZATION_CLASS = '28'
export const NO_SUCH_DATABASE_CLASS = '3D'
export const SERIALIZATION_FAILURE = '40001'
export const DEADLOCK = '40P01'
export const INSUFFICIENT_PRIVILEGE = '42501'
export const UNDEFINED_COLUMN = '42703'
/** For example, no such type. */
export const UNDEFINED_OBJECT = '42704'
export const UNDEFINED_FUNCTION = '42883'
export const UNDEFINED_TABLE = '42P01'
/** The disk is full, the memory is used up, or there are too many connections. */
export const INSUFFICIENT_RESOURCES_CLASS = '53'
/** A role, a database or the server has reached its limit. */
export const TOO_MANY_CONNECTIONS = '53300'
/** `lock_timeout`, or `nowait`. */
export const LOCK_NOT_AVAILABLE = '55P03'
/** `statement_timeout`, or a cancelled statement. */
export const QUERY_CANCELED = '57014'
/** PostgreSQL shuts down, starts or has crashed, or an operator has ended the session. */
export const SHUTDOWN_CLASS = '57P'
/** For example, an I/O error of the server. */
export const SYSTEM_ERROR_CLASS = '58'
