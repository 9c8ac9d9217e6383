// One HTTPS request with the certificates of the cluster. `fetch` cannot use other certificates than those of Node.
import { request } from 'node:https'
import { text } from 'node:stream/consumers'

/** The CA of the cluster, and the certificate of the client. */
export interface Tls {
  ca: string
  cert: string
  key: string
}

export interface HttpsResponse {
  status: number
  body: string
}

interface HttpsOptions {
  method?: 'GET' | 'POST'
  body?: string
  tls: Tls
  timeoutMs: number
}

/** Opens a new connection for each request: one that was open during a partition would fail after it. */
export function sendHttps(
  url: string,
  { method = 'GET', body, tls, timeoutMs }: HttpsOptions,
): Promise<HttpsResponse> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const sent = request(url, { method, agent: false, signal, ...tls }, (response) => {
      const status = response.statusCode ?? 0
      text(response).then((received) => resolve({ status, body: received }), reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
