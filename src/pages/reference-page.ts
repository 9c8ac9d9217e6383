// The page on which Scalar draws openapi.json. Its scripts are files of this host: the policy allows no other.
import { ERRORS_PAGE, INTERFACE_DOCUMENT } from '../http/page-addresses.ts'
import { START_SCALAR } from './assets.ts'
import { pageHead } from './layout.ts'
import { SCALAR_ADDRESS } from './scalar.ts'

export function referencePage(): string {
  return `<!doctype html>
<html lang="en">
<head>
${pageHead('Petstore API reference', 'Every operation of Petstore, to read and to try.')}
<script defer src="${START_SCALAR.address}"></script>
<script defer src="${SCALAR_ADDRESS}"></script>
</head>
<body>
<div id="reference"></div>
<p class="loading">Loading the reference …</p>
<noscript><p>The reference needs JavaScript. <a href="${INTERFACE_DOCUMENT}">openapi.json</a> says the same to
machines, <a href="${ERRORS_PAGE}">the errors</a> are a plain page.</p></noscript>
</body>
</html>
`
}
