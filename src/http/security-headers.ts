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

/** Pages and documents of our own: no script, no request to anywhere. */
export const PAGE_HEADERS = {
  ...EVERYWHERE,
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
}
