// The HTML page that the deprecation headers of getPet link to.
// src/store/pets/deprecation.ts sets the headers.
import { ERRORS_PAGE, GET_PET_PAGE, REFERENCE_PAGE } from '../http/page-addresses.ts'
import { GET_PET_REMOVAL } from '../store/pets/deprecation.ts'
import { renderPage } from './layout.ts'

const LONG_DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

export function getPetPage(): string {
  const removal = `<time datetime="${GET_PET_REMOVAL.toISOString()}">${LONG_DATE.format(GET_PET_REMOVAL)}, 00:00 UTC</time>`
  return renderPage({
    address: GET_PET_PAGE,
    title: 'getPet is deprecated',
    description: 'When getPet will be removed, and what to use instead.',
    content: `<h1>getPet is deprecated</h1>
<p><code>GET /v1/pets/{petId}</code> works until <strong>${removal}</strong>. From then on it returns 410 with the code
<a href="${ERRORS_PAGE}#operation_removed"><code>operation_removed</code></a>.</p>
<h2>What to do</h2>
<p>Filter the list by id:</p>
<pre><code>GET /v1/pets?id=42</code></pre>
<p>The response is an array with the pet. If the pet does not exist, the status is 200 and the array is empty. To get up to
100 pets at once, repeat the parameter:</p>
<pre><code>GET /v1/pets?id=42&amp;id=43</code></pre>
<p>If you request exactly one id, the response has the <code>ETag</code> of that pet, for <code>If-Match</code>. After getPet is
removed, the <code>Location</code> header of createPet contains <code>/v1/pets?id=42</code> instead of <code>/v1/pets/42</code>.</p>
<h2>How to find calls to getPet</h2>
<p>The responses of getPet have three headers: <code>Deprecation</code> is the date on which getPet was deprecated,
<code>Sunset</code> is the date of its removal, and <code>Link</code> contains the replacement. If your program calls getPet,
<code>@petstore/client</code> logs a warning once per process.</p>
<p><a href="${REFERENCE_PAGE}">Back to the reference</a></p>`,
  })
}
