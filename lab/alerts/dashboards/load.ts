// A small load that touches everything that the dashboards show: lists, changes, orders that are sold, cancelled and left
// to expire, wrong requests, streams of events and a receiver of webhooks.
import { setTimeout as sleep } from 'node:timers/promises'
import { type LocalServer, openLocalServer } from '../../parts/local-server.ts'
import { send as sendRequest } from '../steady-load.ts'

const CLIENTS = 6
/** The mean pause of a client between two requests. */
const PAUSE_MS = 60
const STREAMS = 4
const KNOWN_PETS_MAX = 500
const RECEIVER_DELAY_MS = 8
const AFTER_FAILURE_MS = 250

interface Load {
  stop: () => Promise<void>
}

interface LoadOptions {
  origins: string[]
  apiKey: string
}

export async function startLoad({ origins, apiKey }: LoadOptions): Promise<Load> {
  const stopping = new AbortController()
  const { signal } = stopping
  const receiver = await openReceiver()
  const originOf = (index: number) => origins[index % origins.length] ?? ''
  const send: Send = async (origin, method, path, body) => {
    const exchange = await sendRequest({ origin, apiKey }, method, path, body)
    if (exchange === undefined) throw new Error(`${method} ${path} got no response`)
    return exchange.status < 300 ? (exchange.body ?? {}) : {}
  }
  const { kinds, createPet } = requestsOf(send)
  for (let count = 0; count < 20; count += 1) await createPet(originOf(0))
  await send(originOf(0), 'POST', '/webhooks', { url: `${receiver.origin}/hook` })
  const running = Promise.all([
    ...Array.from({ length: CLIENTS }, (_, index) => runClient(originOf(index), kinds, signal)),
    ...Array.from({ length: STREAMS }, (_, index) => follow(originOf(index), apiKey, signal)),
  ])
  return {
    stop: async () => {
      stopping.abort()
      await running
      await receiver.close()
    },
  }
}

type Send = (origin: string, method: string, path: string, body?: object) => Promise<{ id?: number }>

/** The kinds of requests, which use the pets that they have created. */
function requestsOf(send: Send) {
  const pets: number[] = []
  const anyPet = () => pets[Math.floor(Math.random() * pets.length)] ?? 1

  async function createPet(origin: string): Promise<void> {
    const pet = { name: `Pet ${pets.length}`, categoryId: 1 + Math.floor(Math.random() * 9) }
    const { id } = await send(origin, 'POST', '/pets', pet)
    if (id === undefined) return
    if (pets.length < KNOWN_PETS_MAX) pets.push(id)
    else pets[Math.floor(Math.random() * KNOWN_PETS_MAX)] = id
  }

  async function sell(origin: string): Promise<void> {
    const holdMinutes = Math.random() < 0.5 ? 1 : 30
    const { id } = await send(origin, 'POST', '/store/orders', { petId: anyPet(), holdMinutes })
    const next = Math.random()
    if (id === undefined || next > 0.85) return
    await send(origin, 'POST', `/store/orders/${id}/${next < 0.6 ? 'complete' : 'cancel'}`)
  }

  /** The share of each kind of request, in sum 1. */
  const kinds: Kind[] = [
    [0.45, (origin) => send(origin, 'GET', '/pets?status=available&limit=20')],
    [0.1, (origin) => send(origin, 'GET', `/pets?id=${anyPet()}`)],
    [0.16, createPet],
    [0.08, (origin) => send(origin, 'PATCH', `/pets/${anyPet()}`, { name: `Renamed ${Date.now()}` })],
    [0.12, sell],
    [0.03, (origin) => send(origin, 'GET', '/store/inventory')],
    // Deprecated.
    [0.02, (origin) => send(origin, 'GET', `/pets/${anyPet()}`)],
    [0.02, (origin) => send(origin, 'DELETE', '/pets/999999999')],
    [0.02, (origin) => send(origin, 'POST', '/pets', { name: '' })],
  ]
  return { kinds, createPet }
}

async function runClient(origin: string, kinds: readonly Kind[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pickKind(kinds)(origin).catch(() => sleep(AFTER_FAILURE_MS))
    await sleep(Math.random() * 2 * PAUSE_MS)
  }
}

/** Keeps a stream of events open. */
async function follow(origin: string, apiKey: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const headers = { authorization: `Bearer ${apiKey}` }
      const response = await fetch(`${origin}/v1/events/stream`, { headers, signal })
      await response.body?.pipeTo(new WritableStream())
    } catch {
      // The stream ended, or the load stops.
    }
    if (!signal.aborted) await sleep(AFTER_FAILURE_MS)
  }
}

type Kind = [share: number, work: (origin: string) => Promise<unknown>]

function pickKind(kinds: readonly Kind[]): Kind[1] {
  let left = Math.random()
  for (const [share, work] of kinds) {
    left -= share
    if (left < 0) return work
  }
  return async () => {}
}

/** Accepts every webhook after some milliseconds. */
function openReceiver(): Promise<LocalServer> {
  return openLocalServer((request, response) => {
    request.resume().on('end', () => {
      setTimeout(() => response.writeHead(204).end(), RECEIVER_DELAY_MS * Math.random() * 2)
    })
  })
}
