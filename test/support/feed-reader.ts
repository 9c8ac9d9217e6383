// A reader that follows GET /v1/events through faults, and remembers what it saw at each position.
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { MirrorEvent } from '../../lab/parts/mirror.ts'
import { openConnection } from './load.ts'

export interface FeedEvent extends MirrorEvent {
  position: string
  requestId?: string
}

export interface FeedReader {
  /** A checksum of each event, by its number. */
  seen: readonly number[]
  /** Gaps, repeated events, and unexpected responses. */
  faults: readonly string[]
  /** The number of the last event that was read. */
  number: () => number
  stop: () => Promise<void>
}

export interface FeedReaderOptions {
  /** The origin of an instance, which may change when instances are replaced. */
  origin: () => string
  apiKey: string
  pageSize: number
  onEvent?: (event: FeedEvent) => void
}

const IDLE_MS = 20
const AFTER_FAULT_MS = 50

export function startFeedReader({ origin, apiKey, pageSize, onEvent }: FeedReaderOptions): FeedReader {
  const seen: number[] = []
  const faults: string[] = []
  const stopping = new AbortController()
  let connection = openConnection({ origin: origin(), apiKey })
  let last: FeedEvent | undefined

  async function readPage(): Promise<void> {
    const after = last === undefined ? '' : `&after=${last.position}`
    const { status, body } = await connection.send('GET', `/v1/events?limit=${pageSize}${after}`)
    if (status !== 200) {
      if (status !== 503) faults.push(`${status} ${JSON.stringify(body)}`)
      await sleep(AFTER_FAULT_MS)
      return
    }
    const events = body as FeedEvent[]
    for (const event of events) {
      const number = numberOf(event)
      if (last !== undefined && number !== numberOf(last) + 1)
        faults.push(`event ${event.position} follows event ${last.position}`)
      last = event
      seen[number] = crc32(JSON.stringify(event))
      onEvent?.(event)
    }
    if (events.length === 0) await sleep(IDLE_MS)
  }

  async function follow(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await readPage()
      } catch {
        connection.close()
        await sleep(AFTER_FAULT_MS)
        connection = openConnection({ origin: origin(), apiKey })
      }
    }
    connection.close()
  }
  const following = follow()

  return {
    seen,
    faults,
    number: () => (last === undefined ? 0 : numberOf(last)),
    stop: () => {
      stopping.abort()
      return following
    },
  }
}

function numberOf({ position }: FeedEvent): number {
  return Number(position.split('-')[1])
}
