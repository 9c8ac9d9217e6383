// Headers that say what an answer is, and what a browser may not do with it.

export const JSON_TYPE = 'application/json; charset=utf-8'

const EVERYWHERE = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

/** Data: never kept by a cache, never shown as a page. */
export const DATA_HEADERS = {
  ...EVERYWHERE,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

const NO_MORE = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Pages and documents of our own: no script, and no request but for their style and icon. */
export const PAGE_HEADERS = {
  ...EVERYWHERE,
  'content-security-policy': `default-src 'none'; style-src 'self'; img-src 'self'; ${NO_MORE}`,
}

/**
 * The reference page runs Scalar, from this host, and asks this host alone. Two doors are open. Styles may be inline:
 * Scalar, its editor and its messages write <style> elements as they run, and only the first of them takes a nonce.
 * Images may be in an address (data:): the icons of its style sheet are. Neither can carry anything to another host.
 */
export const REFERENCE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
    `img-src 'self' data:; ${NO_MORE}`,
}
