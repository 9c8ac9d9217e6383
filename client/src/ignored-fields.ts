// Reports the fields of a new pet that the service ignored, from the response header `Petstore-Ignored-Fields`.

export interface IgnoredFields {
  operation: string
  /** The first ten names. A long name is cut. */
  fields: string[]
  /** The same information as one sentence. */
  message: string
}

export function reportIgnoredFields(
  operation: string,
  headers: Headers,
  report: (ignored: IgnoredFields) => void,
): void {
  const header = headers.get('petstore-ignored-fields')
  if (header === null) return
  const fields = header.split(',').map((name) => decode(name.trim()))
  const message = `Petstore: ${operation} ignored fields that it does not have: ${fields.map((name) => JSON.stringify(name)).join(', ')}.`
  report({ operation, fields, message })
}

/** A proxy may have changed the header. */
function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
