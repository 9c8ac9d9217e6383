// A worker thread that opens many streams of events and counts what they receive. It has its own event loop, so that
// reading a thousand sockets does not delay the clients whose response times a test measures.
import { connect, type Socket } from 'node:net'
import { parentPort, Worker, workerData } from 'node:worker_threads'

export interface StreamsToOpen {
  origin: string
  count: number
  apiKeys: readonly string[]
  perKey: number
}

/** Tells the worker of this file from the worker threads of vitest, which import this file too. */
interface WorkerData {
  streamsToOpen?: StreamsToOpen
}

interface Counts {
  started: number
  events: number
}

export interface StreamReaders {
  /** Events received by all streams. */
  events: () => number
  close: () => Promise<unknown>
}

/** How often the worker reports its counts. */
const REPORTED_EVERY_MS = 50

/** Resolves when all streams have started. */
export async function openStreams(streams: StreamsToOpen): Promise<StreamReaders> {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { streamsToOpen: streams } satisfies WorkerData,
  })
  let counts: Counts = { started: 0, events: 0 }
  await new Promise<void>((resolve, reject) => {
    worker.on('error', reject)
    worker.on('message', (reported: Counts) => {
      counts = reported
      if (counts.started === streams.count) resolve()
    })
  })
  return { events: () => counts.events, close: () => worker.terminate() }
}

/** Raw sockets take less CPU time than HTTP clients. */
async function readStreams({ origin, count, apiKeys, perKey }: StreamsToOpen): Promise<void> {
  const { hostname, port } = new URL(origin)
  const counts: Counts = { started: 0, events: 0 }
  const sockets: Socket[] = []
  setInterval(() => parentPort?.postMessage(counts), REPORTED_EVERY_MS)
  while (sockets.length < count) {
    const socket = connect(Number(port), hostname)
    const apiKey = apiKeys[Math.floor(sockets.length / perKey)]
    socket.write(
      `GET /v1/events/stream?after=latest HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
    )
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('\nretry: 1000')) counts.started += 1
      if (chunk.includes('\nevent: ')) counts.events += 1
    })
    socket.on('error', () => {})
    sockets.push(socket)
    // More requests at once than the service accepts would get 503.
    while (sockets.length % perKey === 0 && counts.started < sockets.length) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}

const { streamsToOpen } = (workerData ?? {}) as WorkerData
if (streamsToOpen !== undefined) await readStreams(streamsToOpen)
