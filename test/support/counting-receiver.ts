// A receiver of webhooks for many messages: it verifies each one, and remembers a checksum per event instead of the message.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { type LocalServer, openLocalServer } from '../../lab/parts/local-server.ts'
import { freePort } from '../../src/data/demo/cluster.ts'

export interface CountingReceiver {
  url: string
  /** Must be set before the first message. */
  setSecret: (secret: string) => void
  /** A checksum of each message that got 2xx, by the number of its event. */
  accepted: Map<number, number>
  counts: () => { received: number; accepted: number; duplicates: number; rejected: number }
  /** Messages that were malformed, badly signed, or too early: a message with an older event of the pet was missing. */
  faults: string[]
  /** The time from the change to the first receipt, in milliseconds. */
  delaysMs: number[]
  /** Resets all connections and accepts none for this time. */
  die: (ms: number) => Promise<void>
  close: () => Promise<void>
}

export interface CountingReceiverOptions {
  /** How long the receiver takes for each message. */
  delayMs?: number
  /** The share of the messages that get 500. */
  failureShare?: number
}

interface Body {
  type: string
  timestamp: string
  data: { position: string; petId: number }
}

/** What receivers and readers of the feed compare. The order of the fields has no meaning. */
export function checksumOf(type: string, data: object): number {
  return crc32(JSON.stringify([type, data], (_name, value) => (isObject(value) ? sorted(value) : value)))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

export async function openCountingReceiver({
  delayMs = 0,
  failureShare = 0,
}: CountingReceiverOptions): Promise<CountingReceiver> {
  const accepted = new Map<number, number>()
  const newestOf = new Map<number, number>()
  const faults: string[] = []
  const delaysMs: number[] = []
  const counts = { received: 0, duplicates: 0, rejected: 0 }
  const port = await freePort()
  let webhook: Webhook | undefined
  let server: LocalServer | undefined
  /** A second death follows the first one. */
  let dying = Promise.resolve()

  function accept(text: string): void {
    const { type, timestamp, data } = JSON.parse(text) as Body
    const number = Number(data.position.split('-')[1])
    const checksum = checksumOf(type, data)
    const before = accepted.get(number)
    if (before !== undefined) {
      counts.duplicates += 1
      if (before !== checksum) faults.push(`${data.position} has changed`)
      return
    }
    const newest = newestOf.get(data.petId) ?? 0
    if (number < newest) faults.push(`pet ${data.petId}: ${number} after ${newest}`)
    newestOf.set(data.petId, Math.max(newest, number))
    accepted.set(number, checksum)
    delaysMs.push(Date.now() - Date.parse(timestamp))
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    counts.received += 1
    if (Math.random() < failureShare) {
      counts.rejected += 1
      response.writeHead(500).end()
      return
    }
    const text = Buffer.concat(chunks).toString()
    try {
      webhook?.verify(text, request.headers as Record<string, string>)
      accept(text)
    } catch (error) {
      faults.push(String(error))
    }
    if (delayMs > 0) await sleep(delayMs)
    response.writeHead(204).end()
  }

  async function listen(): Promise<void> {
    // A connection that is reset while its request arrives ends the request.
    const receive = (request: IncomingMessage, response: ServerResponse) => {
      respond(request, response).catch(() => {})
    }
    server = await openLocalServer(receive, { port })
  }

  async function close(): Promise<void> {
    const closing = server
    server = undefined
    await closing?.close()
  }

  async function dieAfter(former: Promise<void>, ms: number): Promise<void> {
    await former
    await close()
    await sleep(ms)
    await listen()
  }

  await listen()
  return {
    url: `http://127.0.0.1:${port}/hook`,
    setSecret: (secret) => {
      webhook = new Webhook(secret)
    },
    accepted,
    counts: () => ({ ...counts, accepted: accepted.size }),
    faults,
    delaysMs,
    die: (ms) => {
      dying = dieAfter(dying, ms)
      return dying
    },
    close,
  }
}
