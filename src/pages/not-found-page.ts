// The HTML page for an address outside /v1 that does not exist. src/http/errors.ts decides who gets it.
import { REFERENCE_PAGE } from '../http/page-addresses.ts'
import { renderPage } from './layout.ts'

export function notFoundPage(): string {
  return renderPage({
    address: '',
    title: 'Page not found',
    description: 'This page does not exist.',
    content: `<h1>This page does not exist</h1>
<p>The address may be wrong, or the page has moved.</p>
<ul>
<li><a href="/">Open the console</a> to see and sell pets.</li>
<li><a href="${REFERENCE_PAGE}">Read the reference</a> to call the service from a program.</li>
</ul>`,
  })
}
