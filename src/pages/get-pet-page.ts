// What the headers of getPet point to: until when it works, and what to call instead.
import { GET_PET_REMOVAL } from '../pets/deprecation.ts'
import { ERRORS_PAGE, GET_PET_PAGE, REFERENCE_PAGE } from '../http/page-addresses.ts'
import { renderPage } from './layout.ts'

const LONG_DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

export function getPetPage(): string {
  const removal = `<time datetime="${GET_PET_REMOVAL.toISOString()}">${LONG_DATE.format(GET_PET_REMOVAL)}, 00:00 UTC</time>`
  return renderPage({
    address: GET_PET_PAGE,
    title: 'getPet is deprecated',
    description: 'Until when getPet works, and what to use instead.',
    content: `<h1>getPet is deprecated</h1>
<p><code>GET /v1/pets/{petId}</code> works until <strong>${removal}</strong>. From then on it answers 410 with the code
<a href="${ERRORS_PAGE}#operation_removed"><code>operation_removed</code></a>.</p>
<h2>What to do</h2>
<p>Ask the list for the id:</p>
<pre><code>GET /v1/pets?id=42</code></pre>
<p>It answers an array: with the animal, or empty where getPet answers 404. Ask for up to 100 animals at once:</p>
<pre><code>GET /v1/pets?id=42&amp;id=43</code></pre>
<p>The response to exactly one id carries the <code>ETag</code> of that pet, for <code>If-Match</code>. From the removal on,
the <code>Location</code> of createPet is this list instead of <code>/v1/pets/{petId}</code>.</p>
<h2>How to notice</h2>
<p>Every answer of getPet says so in its headers: <code>Deprecation</code> since when, <code>Sunset</code> until when,
and <code>Link</code> what to call instead. <code>@petstore/client</code> warns once in a process.</p>
<p><a href="${REFERENCE_PAGE}">Back to the reference</a></p>`,
  })
}
