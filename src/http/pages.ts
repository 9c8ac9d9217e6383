// What stands outside /v1: documents and pages, without data and without a key.
import type { FastifyInstance } from 'fastify'
import { DEPRECATION_PAGE, GET_PET_REMOVAL } from './deprecation.ts'
import { PAGE_HEADERS } from './security-headers.ts'
import { refuseUnknownRoutes } from './unknown-routes.ts'

const HTML = 'text/html; charset=utf-8'

export async function pageRoutes(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(PAGE_HEADERS)
  })
  refuseUnknownRoutes(app)

  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())

  app.get(DEPRECATION_PAGE, { schema: { hide: true } }, async (_request, reply) => {
    reply.type(HTML)
    return deprecationPage()
  })
}

function deprecationPage(): string {
  const removal = GET_PET_REMOVAL.toISOString().slice(0, 10)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>getPet is deprecated</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1rem/1.6 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }
  code, pre { font-size: .95em }
</style>
<h1>getPet is deprecated</h1>
<p><code>GET /v1/pets/{petId}</code> works until <strong>${removal}</strong>, 00:00 UTC. From then on it answers
<code>410</code> with the code <code>operation_removed</code>.</p>
<h2>What to do</h2>
<p>Ask the list for the id. It answers an array: with the animal, or empty where <code>getPet</code> answered 404.</p>
<pre>GET /v1/pets?id=42</pre>
<p>Up to 100 animals at once: <code>GET /v1/pets?id=42&amp;id=43</code>.</p>
</html>
`
}
