// Reports deprecated operations, once each, from the response headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).

export interface Deprecation {
  operation: string
  /** When the operation will be removed, if known. */
  sunset: Date | undefined
  /** Address of the page that describes the replacement. */
  page: string | undefined
  /** The same information as one sentence. */
  message: string
}

/** Operations that this process has already reported. */
const reported = new Set<string>()

export function reportDeprecation(
  operation: string,
  headers: Headers,
  report: (deprecation: Deprecation) => void,
): void {
  if (!headers.has('deprecation') || reported.has(operation)) return
  reported.add(operation)
  const date = new Date(headers.get('sunset') ?? '')
  const sunset = Number.isNaN(date.getTime()) ? undefined : date
  const page = linkTo('deprecation', headers)
  const until = sunset === undefined ? '' : ` and will be removed on ${sunset.toISOString().slice(0, 10)}`
  const message = `Petstore: ${operation} is deprecated${until}.${page === undefined ? '' : ` See ${page}`}`
  report({ operation, sunset, page, message })
}

/** The target of the link with this relation type (RFC 8288). */
export function linkTo(relation: string, headers: Headers): string | undefined {
  const links = (headers.get('link') ?? '').matchAll(/<([^>]*)>([^<]*)/g)
  for (const [, target, parameters = ''] of links) {
    if (new RegExp(`;\\s*rel="?${relation}"?\\s*(?:[;,]|$)`).test(parameters)) return target
  }
  return undefined
}
