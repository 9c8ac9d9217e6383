// Names of time zones, such as Europe/Berlin.

/** The names of three letters in the IANA database. */
const SHORT_TIME_ZONES = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '))

/**
 * Returns whether Node knows the name. PostgreSQL cannot check this: it accepts any text such as `abc5` as an offset. Node
 * also accepts offsets, which are not names, and abbreviations such as `IST`, which is India in Node and Israel in
 * PostgreSQL.
 */
export function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false
  if (/^[a-z]{3}$/i.test(name) && !SHORT_TIME_ZONES.has(name.toUpperCase())) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format !== undefined
  } catch {
    return false
  }
}

/** The time zone of this host. */
export function hostTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}
