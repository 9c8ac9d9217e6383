// Makes a key for coalescing identical queries. The key covers every parameter of the schema, including future ones.

type Parameter = string | number | bigint | boolean | undefined
type Query = Record<string, Parameter | readonly Parameter[]>

interface QuerySchema {
  properties: Record<string, unknown>
}

/** Two validated queries have the same key if and only if all their parameters are equal. */
export function queryKey(schema: QuerySchema): (query: Query) => string {
  const names = Object.keys(schema.properties)
  return (query) => {
    let key = ''
    for (const name of names) key += keyPart(query[name])
    return key
  }
}

/** The length prefix makes the key unambiguous for any text. */
function keyPart(value: Parameter | readonly Parameter[]): string {
  if (value === undefined) return '-'
  if (Array.isArray(value)) return `[${value.map(keyPart).join('')}]`
  const text = String(value)
  return `${text.length}:${text}`
}
