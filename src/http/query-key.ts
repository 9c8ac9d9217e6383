// A key for identical queries, made from every parameter of the schema: a new parameter is part of it by itself.

type Parameter = string | number | bigint | boolean | undefined
type Query = Record<string, Parameter | readonly Parameter[]>

interface QuerySchema {
  properties: Record<string, unknown>
}

/** Two validated queries have the same key exactly if all their parameters are the same. */
export function queryKey(schema: QuerySchema): (query: Query) => string {
  const names = Object.keys(schema.properties)
  return (query) => {
    let key = ''
    for (const name of names) key += keyPart(query[name])
    return key
  }
}

/** The length comes first, so that no text can be mistaken for the end of its part. */
function keyPart(value: Parameter | readonly Parameter[]): string {
  if (value === undefined) return '-'
  if (Array.isArray(value)) return `[${value.map(keyPart).join('')}]`
  const text = String(value)
  return `${text.length}:${text}`
}
