// Sends requests to the identity provider, with limits on their time and on the size of the responses.
// The addresses come from the configuration and from the provider's own documents, never from a request of a client.

/** Max time for one request to the provider, including its response. */
export const PROVIDER_TIMEOUT_MS = 4_000
/** Max size of a response. The keys and documents of real providers have a tenth of it. */
export const PROVIDER_RESPONSE_MAX_BYTES = 262_144

/** Fetches without following redirects, and reads at most PROVIDER_RESPONSE_MAX_BYTES. */
export async function fetchFromProvider(url: string, options: object): Promise<Response> {
  const response = await fetch(url, { ...options, redirect: 'manual' })
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > PROVIDER_RESPONSE_MAX_BYTES) throw new TypeError('the response of the provider is too large')
    chunks.push(chunk)
  }
  const { status, headers } = response
  const hasBody = size > 0 && status !== 204 && status !== 304
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, headers })
}
