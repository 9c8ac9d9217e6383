// Telling a developer, once, that an operation will be removed: by the headers of its answer (RFC 9745, RFC 8594).

export interface Deprecation {
  operation: string
  /** When it will be removed, if that is known. */
  sunset: Date | undefined
  /** The page that says what to use instead. */
  page: string | undefined
  /** All of it in a sentence. */
  message: string
}

/** Those that this process has been told of. */
const told = new Set<string>()

export function noteDeprecation(
  operation: string,
  headers: Headers,
  tell: (deprecation: Deprecation) => void,
): void {
  if (!headers.has('deprecation') || told.has(operation)) return
  told.add(operation)
  const date = new Date(headers.get('sunset') ?? '')
  const sunset = Number.isNaN(date.getTime()) ? undefined : date
  const page = linkTo('deprecation', headers)
  const until = sunset === undefined ? '' : ` and will be removed on ${sunset.toISOString().slice(0, 10)}`
  const message = `Petstore: ${operation} is deprecated${until}.${page === undefined ? '' : ` See ${page}`}`
  tell({ operation, sunset, page, message })
}

/** The target of the link with this relation (RFC 8288). */
export function linkTo(relation: string, headers: Headers): string | undefined {
  const links = (headers.get('link') ?? '').matchAll(/<([^>]*)>([^<]*)/g)
  for (const [, target, parameters = ''] of links) {
    if (new RegExp(`;\\s*rel="?${relation}"?\\s*(?:[;,]|$)`).test(parameters)) return target
  }
  return undefined
}
