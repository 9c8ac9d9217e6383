// The HTML page that lists every error code, its meaning and what to do.
// Contains no texts about individual codes: they are in src/contract/errors.ts.
import { DETAIL_CODES, ERRORS, type ErrorCode, errorBody } from '../contract/errors.ts'
import { statusName } from '../http/errors.ts'
import { ERRORS_PAGE } from '../http/page-addresses.ts'
import { escapeHtml, renderPage, sentence } from './layout.ts'

const CODES = Object.keys(ERRORS) as ErrorCode[]

export function errorsPage(): string {
  const byStatus = [...Map.groupBy(CODES, (code) => ERRORS[code].status)]
  return renderPage({
    address: ERRORS_PAGE,
    title: 'Errors',
    description: 'Every error code of the Petstore API: what it means and what to do.',
    content: `<h1>Errors</h1>
<p>Every error response has this body:</p>
<pre><code>${escapeHtml(JSON.stringify(errorBody('pet_on_hold'), null, 2))}</code></pre>
<p>In your program, check the <code>code</code>: its meaning never changes, but the message can change. If fields or
parameters of the request are invalid, <code>details</code> lists all of them, each with <code>field</code>,
<code>code</code> and <code>message</code>. The header <code>Link</code> refers to the code on this page.
The header <code>X-Request-Id</code> identifies the request in the logs.</p>
<nav class="codes" aria-label="Codes">
<dl>
${byStatus.map(([status, codes]) => `<dt>${status}</dt><dd>${codes.map(codeLink).join(' ')}</dd>`).join('\n')}
</dl>
<p><a href="#details">Codes in <code>details</code></a></p>
</nav>
${byStatus.map(([status, codes]) => statusSection(status, codes)).join('\n')}
<section aria-labelledby="details">
<h2 id="details">Codes in details</h2>
<ul>
${Object.entries(DETAIL_CODES)
  .map(([code, meaning]) => `<li><code>${code}</code>: ${sentence(meaning)}</li>`)
  .join('\n')}
</ul>
</section>`,
  })
}

function statusSection(status: number, codes: ErrorCode[]): string {
  return `<section aria-labelledby="status-${status}">
<h2 id="status-${status}">${status} ${statusName(status)}</h2>
${codes.map(codeEntry).join('\n')}
</section>`
}

function codeEntry(code: ErrorCode): string {
  const { message, fix } = ERRORS[code]
  return `<article class="code" id="${code}">
<h3>${codeLink(code)}</h3>
<p>${escapeHtml(message)}</p>
<p class="fix"><strong>What to do</strong> ${sentence(fix)}</p>
</article>`
}

function codeLink(code: ErrorCode): string {
  return `<a href="#${code}"><code>${code}</code></a>`
}
