// Times as microseconds since 1970, the precision of PostgreSQL: a Date has only milliseconds.

const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/

/** Reads a date-time of RFC 3339, such as `2026-11-15T10:30:00.25+01:00`; undefined if the text is none. */
export function parseDateTime(text: string): bigint | undefined {
  const match = DATE_TIME.exec(text)
  if (match === null) return undefined
  const [, date = '', hour, minute, second, fraction = '', sign, offsetHour = 0, offsetMinute = 0] = match
  const midnight = new Date(`${date}T00:00:00Z`)
  // A Date reads 30 February as 2 March.
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(date)) return undefined
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -1 : 1)
  const minutes = Number(hour) * 60 + Number(minute) - offset
  const seconds = midnight.getTime() / 1_000 + minutes * 60 + Number(second)
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}
