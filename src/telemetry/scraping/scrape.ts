// Reads the metrics of a process over HTTP, for `petstore doctor --url` and the soak of the lab. The response is limited in time and
// size, because an address may be wrong.
import { type Metrics, parseMetrics } from './metrics.ts'

const SCRAPE_TIMEOUT_MS = 2_000
/** A process of Petstore returns less than 1 MiB, even if every operation and statement was used. */
const RESPONSE_MAX_BYTES = 8 * 1024 * 1024
/** Every process of Petstore has this metric. */
const MARK = 'petstore_build_info'

/** The message says in a few words why a process returned no metrics. */
export class ScrapeFailure extends Error {}

export async function scrape(address: URL): Promise<Metrics> {
  try {
    const response = await fetch(new URL('/metrics', address), {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(SCRAPE_TIMEOUT_MS),
      redirect: 'error',
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw new ScrapeFailure(`HTTP ${response.status}; use the port of ADMIN_PORT`)
    }
    return readMetrics(await readText(response))
  } catch (error) {
    if (error instanceof ScrapeFailure) throw error
    throw new ScrapeFailure(reasonOf(error), { cause: error })
  }
}

function readMetrics(text: string): Metrics {
  try {
    const metrics = parseMetrics(text)
    if (metrics.has(MARK)) return metrics
  } catch {
    // Another program.
  }
  throw new ScrapeFailure('not a process of Petstore')
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    // Ending the loop closes the connection.
    if (bytes > RESPONSE_MAX_BYTES) throw new ScrapeFailure('the response is too large for metrics')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no process listens on this port',
  ECONNRESET: 'the connection was reset',
  EAI_AGAIN: 'the name of the host cannot be resolved',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ENOTFOUND: 'the name of the host does not exist',
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no response within ${SCRAPE_TIMEOUT_MS / 1_000} s`
  // The message of `fetch` is only "fetch failed"; its cause says why.
  const cause = error.cause instanceof Error ? error.cause : error
  const code = 'code' in cause ? String(cause.code) : ''
  return REASONS[code] ?? (cause.message || code)
}
