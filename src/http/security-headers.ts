// Response headers that restrict what a browser can do with a response.

export const JSON_TYPE = 'application/json; charset=utf-8'
export const HTML_TYPE = 'text/html; charset=utf-8'

const EVERYWHERE = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

/** Headers of responses with data: browsers must not cache the data or render it as a page. */
export const DATA_HEADERS = {
  ...EVERYWHERE,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

const NO_MORE = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** Scripts of this host, which send requests to this host only. Their components insert <style> elements at run time. */
const SCRIPTED =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'"

/** Headers of the documentation pages and openapi.json: no scripts, and no requests except style sheets and images. */
export const PAGE_HEADERS = {
  ...EVERYWHERE,
  'content-security-policy': `default-src 'none'; style-src 'self'; img-src 'self'; ${NO_MORE}`,
}

/**
 * Headers of the reference page, which runs Scalar from this host and sends requests to this host only. Two rules are
 * relaxed; neither allows the page to send data to another host. Inline styles are allowed, because Scalar, its editor
 * and its messages insert <style> elements at run time, and only Scalar itself supports a nonce. `data:` images are
 * allowed, because the style sheet of Scalar contains icons in this form.
 */
export const REFERENCE_HEADERS = {
  'content-security-policy': `${SCRIPTED} data:; ${NO_MORE}`,
}

/**
 * Headers of the console, which runs its own scripts from this host and sends requests to this host only. Inline styles
 * are allowed, because the components of Mantine insert <style> elements at run time. The font is a file of the console.
 */
export const CONSOLE_HEADERS = {
  'content-security-policy': `${SCRIPTED}; font-src 'self'; ${NO_MORE}`,
}
