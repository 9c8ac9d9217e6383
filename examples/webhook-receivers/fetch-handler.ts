// Receives webhooks of Petstore with a `fetch` handler, as Deno, Bun and edge platforms run it. README.md explains how.
import { verifyWebhook, WebhookVerificationError } from '@petstore/client/webhooks'
import { type Handler, onceById, printEvent, readSecrets } from './handling.ts'

const BODY_BYTES_MAX = 65_536

export function buildReceiver(
  secrets: () => readonly string[],
  handle: Handler,
): (request: Request) => Promise<Response> {
  const handleOnce = onceById(handle)

  return async (request) => {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } })
    const body = await readBody(request)
    if (body === undefined) return new Response(null, { status: 413 })
    try {
      await handleOnce(await verifyWebhook(body, request.headers, secrets()))
      return new Response(null, { status: 204 })
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      console.error(`${error.code}: ${error.message}`)
      return Response.json({ code: error.code }, { status: 400 })
    }
  }
}

/** Returns undefined if the body is too large. `request.arrayBuffer()` would read a body of any size. */
async function readBody({ body }: Request): Promise<ArrayBuffer | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return new Blob(chunks).arrayBuffer()
}

// Reads the variable with the first request, because some platforms set it only then.
export default { fetch: buildReceiver(() => readSecrets(process.env['WEBHOOK_SECRETS']), printEvent) }
