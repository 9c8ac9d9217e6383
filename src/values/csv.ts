// Writes CSV (RFC 4180), with the same bytes as PostgreSQL's COPY.

/** A line of the fields. An absent field and an empty one are equal. */
export function csvLine(fields: readonly (string | undefined)[]): string {
  return `${fields.map((field = '') => quote(field)).join(',')}\n`
}

function quote(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}
