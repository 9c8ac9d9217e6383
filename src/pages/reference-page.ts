// The HTML page on which Scalar renders openapi.json. The Content-Security-Policy allows only scripts from this host.
// Contains no texts about operations: they are in openapi.json.
import { CLIENT_PAGE, ERRORS_PAGE, INTERFACE_DOCUMENT, REFERENCE_PAGE } from '../http/page-addresses.ts'
import { START_SCALAR } from './assets.ts'
import { pageHead } from './layout.ts'
import { notBuiltPage } from './not-built-page.ts'
import type { ScalarScript } from './scalar.ts'

export function referencePage(scalar: ScalarScript | undefined): string {
  if (scalar === undefined) return notBuiltPage('reference', REFERENCE_PAGE)
  return `<!doctype html>
<html lang="en">
<head>
${pageHead('Petstore API reference', 'Read about every operation of the Petstore API and try it.')}
<script defer src="${START_SCALAR.address}"></script>
<script defer src="${scalar.address}"></script>
</head>
<body>
<div id="reference"></div>
<p class="loading">Loading the reference …</p>
<noscript><p>The reference needs JavaScript. Without it, use <a href="${INTERFACE_DOCUMENT}">openapi.json</a>,
the <a href="${CLIENT_PAGE}">client</a> and the <a href="${ERRORS_PAGE}">list of errors</a>.</p></noscript>
</body>
</html>
`
}
