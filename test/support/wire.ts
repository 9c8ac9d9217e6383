// Sends raw bytes and parses the responses: for requests that no HTTP client would send.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long to wait for an unexpected further response. */
const QUIET_MS = 120
const TIMEOUT_MS = 60_000

export interface RawResponse {
  status: number
  headers: Headers
  text: string
}

interface SendOptions {
  method?: string
  later?: string | undefined
  /** How many responses to wait for, however slow the host is. */
  count?: number
}

/** Sends the bytes, waits until the service has closed or fallen silent, and returns every response. */
export async function sendBytes(
  origin: string,
  bytes: string | Uint8Array,
  { method = 'GET', later, count = 1 }: SendOptions = {},
): Promise<RawResponse[]> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write(bytes)
  if (later !== undefined) {
    await sleep(QUIET_MS)
    socket.write(later)
  }
  const giveUpAt = Date.now() + TIMEOUT_MS
  let seen = -1
  const isComplete = () =>
    chunks.length === seen && responsesIn(Buffer.concat(chunks), method).length >= count
  while (!socket.closed && Date.now() < giveUpAt && !isComplete()) {
    seen = chunks.length
    await sleep(QUIET_MS)
  }
  socket.destroy()
  return parseResponses(Buffer.concat(chunks), method)
}

/** Without interim responses; empty while a response is incomplete. */
function responsesIn(bytes: Buffer, method: string): RawResponse[] {
  try {
    return parseResponses(bytes, method)
  } catch {
    return []
  }
}

function parseResponses(bytes: Buffer, method: string): RawResponse[] {
  const responses: RawResponse[] = []
  let rest = bytes
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`not an HTTP response: ${rest.toString('latin1')}`)
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    if (Number.isNaN(status)) throw new Error(`no status line: ${statusLine}`)
    const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
    const length = method === 'HEAD' ? 0 : Number(headers.get('content-length') ?? 0)
    const start = end + 4
    // An interim response such as 100 Continue does not count.
    if (status >= 200)
      responses.push({ status, headers, text: rest.subarray(start, start + length).toString() })
    rest = rest.subarray(status < 200 ? start : start + length)
  }
  return responses
}
