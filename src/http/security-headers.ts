// Response headers that restrict what a browser can do with a response.

export const JSON_TYPE = 'application/json; charset=utf-8'

const EVERYWHERE = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

/** For data: not cached, and not rendered as a page. */
export const DATA_HEADERS = {
  ...EVERYWHERE,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

const NO_MORE = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** For the documentation pages and openapi.json: no scripts, and no requests except for style sheets and images. */
export const PAGE_HEADERS = {
  ...EVERYWHERE,
  'content-security-policy': `default-src 'none'; style-src 'self'; img-src 'self'; ${NO_MORE}`,
}

/**
 * The reference page runs Scalar from this host and sends requests to this host only. Two rules are relaxed, and neither
 * can send data to another host. Inline styles are allowed, because Scalar, its editor and its messages insert <style>
 * elements at run time, and only the first of them supports a nonce. `data:` images are allowed, because the style sheet
 * of Scalar contains icons in this form.
 */
export const REFERENCE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
    `img-src 'self' data:; ${NO_MORE}`,
}
