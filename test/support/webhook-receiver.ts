// A receiver of webhooks: an HTTP server on loopback that records every message and responds as the test chooses.
import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { afterAll, expect } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'

export interface Received {
  id: string
  headers: IncomingHttpHeaders
  text: string
  type: string
  timestamp: string
  data: { position?: string; petId?: number; order?: Record<string, unknown>; [field: string]: unknown }
  /** When the whole message had arrived, in milliseconds since 1970. */
  at: number
  /** The status that the receiver returned; 0 before it has responded. */
  status: number
}

type Chosen = number | { status: number; headers?: Record<string, string>; delayMs?: number }

/** A promise delays the response until the test lets it go. */
type Respond = (message: Received) => Chosen | Promise<Chosen>

export interface Receiver {
  url: string
  received: Received[]
  /** Chooses the responses from now on. Default: 204. */
  respond: (choose: Respond) => void
  /** Fails if the signature of a message does not fit the secret. */
  verify: (message: Received, secret: string) => void
  /** Waits until the condition is true. */
  until: (condition: (received: Received[]) => boolean) => Promise<void>
  close: () => Promise<void>
}

export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let choose: Respond = () => 204
  const { origin, close } = await openLocalServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const { type, timestamp, data } = JSON.parse(text) as Pick<Received, 'type' | 'timestamp' | 'data'>
      const id = String(request.headers['webhook-id'])
      const message: Received = {
        id,
        headers: request.headers,
        text,
        type,
        timestamp,
        data,
        at: Date.now(),
        status: 0,
      }
      const reply = (chosen: Chosen) => {
        const { status, headers = {}, delayMs = 0 } = typeof chosen === 'number' ? { status: chosen } : chosen
        message.status = status
        setTimeout(() => response.writeHead(status, headers).end(), delayMs)
      }
      const chosen = choose(message)
      received.push(message)
      if (chosen instanceof Promise) void chosen.then(reply)
      else reply(chosen)
    })
  })
  afterAll(close)
  return {
    url: `${origin}/hook`,
    received,
    respond: (next) => {
      choose = next
    },
    verify: ({ text, headers }, secret) => {
      new Webhook(secret).verify(text, headers as Record<string, string>)
    },
    until: async (condition) => {
      const isReceived = () => condition(received)
      await expect.poll(isReceived, { message: 'the messages were not received' }).toBe(true)
    },
    close,
  }
}
