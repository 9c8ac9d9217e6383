// Clients that send requests until a signal, and the record of each exchange.
import { setTimeout as sleep } from 'node:timers/promises'
import { openHttpClient } from '../../lab/parts/http-client.ts'

export interface Exchange {
  status: number
  body: unknown
  /** Whether the response asks to close the connection. */
  closes: boolean
  /** The version in the ETag, or 0. */
  etag: number
  /** Whether it is the stored response to an earlier request with the same Idempotency-Key. */
  isReplayed: boolean
  ms: number
}

export interface LoadOptions {
  origin: string
  apiKey: string
}

/** A client with one keep-alive connection, like that of a load balancer or a library. With `socketsMax`, more. */
export function openConnection({ origin, apiKey }: LoadOptions, socketsMax = 1) {
  const client = openHttpClient({ origin, apiKey, socketsMax })

  async function send(method: string, path: string, body?: object, headers = {}): Promise<Exchange> {
    const started = performance.now()
    const response = await client.send({ method, path, body, headers })
    return {
      status: response.status,
      body: response.text === '' ? undefined : (JSON.parse(response.text) as unknown),
      closes: response.headers.connection === 'close',
      // Of a response without a version, such as an order, the ETag is a hash.
      etag: Number(/^"(\d+)"$/.exec(String(response.headers.etag))?.[1] ?? 0),
      isReplayed: response.headers['idempotency-replayed'] === 'true',
      ms: performance.now() - started,
    }
  }

  return { send, close: client.close }
}

export type Connection = ReturnType<typeof openConnection>

/** How often to retry a request to a busy service, and how long to wait before each retry. */
const RETRIES_MAX = 100
const PAUSE_MS = 200

type Received = Pick<Exchange, 'status' | 'body'>

/** Whether the service did nothing, because the host is busy. */
export function isBusy({ status, body }: Received): boolean {
  return (
    status === 503 &&
    ['overloaded', 'unavailable'].includes((body as { code: string } | undefined)?.code ?? '')
  )
}

/** How often this process has retried a request because the host was busy. */
let busyRetries = 0
export const countBusyRetries = () => busyRetries

/** Retries a request that the service rejected because the host is busy. */
export async function retryWhileBusy<Response extends Received>(
  send: () => Promise<Response>,
  isRetried: (response: Response) => boolean = isBusy,
): Promise<Response> {
  for (let retries = 0; ; retries += 1) {
    const response = await send()
    if (!isRetried(response) || retries === RETRIES_MAX) return response
    busyRetries += 1
    await sleep(PAUSE_MS)
  }
}

/** Runs the work in a loop on each of several connections, until the signal. */
export async function runClients(
  options: LoadOptions,
  connections: number,
  until: AbortSignal,
  work: (connection: Connection, index: number) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      const connection = openConnection(options)
      while (!until.aborted) await work(connection, index)
      connection.close()
    }),
  )
}
