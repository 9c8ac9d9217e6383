// Follows the event feed of Petstore and publishes each event to a stream of NATS JetStream: all of them, in order, once.
// Stores nothing itself. The newest message of the stream says where to continue. README.md explains how to run it.
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream, JetStreamApiCodes, JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import { connect, nanos, type NatsConnection } from '@nats-io/transport-node'
import { Petstore, PetstoreError, type StoreEvent } from '@petstore/client'

/** Max events that were published and are not yet acknowledged. */
const IN_FLIGHT_MAX = 500
const NATS_TIMEOUT_MS = 5_000
const NATS_PING_EVERY_MS = 10_000
const DUPLICATE_WINDOW_MS = 2 * 60_000
/** If the stream is full, JetStream deletes its oldest messages. */
const STREAM_BYTES_MAX = 1024 ** 3
const BACKOFF_FIRST_MS = 200
const BACKOFF_MAX_MS = 30_000

const PETSTORE_URL = process.env['PETSTORE_URL'] ?? 'http://127.0.0.1:3000'
const PETSTORE_API_KEY = process.env['PETSTORE_API_KEY'] ?? ''
const NATS_URL = process.env['NATS_URL'] ?? 'nats://127.0.0.1:4222'
const STREAM = process.env['NATS_STREAM'] ?? 'petstore'
const START_AFTER = process.env['START_AFTER']

/** An error that a retry does not fix. */
class PermanentError extends Error {}

const store = new Petstore({ baseUrl: PETSTORE_URL, apiKey: PETSTORE_API_KEY })
const stopping = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort())

let failures = 0
while (!stopping.signal.aborted) {
  try {
    await relay()
  } catch (error) {
    const problem = permanentProblem(error)
    if (problem !== undefined) {
      console.error(problem)
      process.exitCode = 1
      break
    }
    const waitMs = Math.random() * Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** failures)
    failures += 1
    console.error(`${error}. Retrying in ${Math.round(waitMs)} ms.`)
    await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
  }
}

/** Publishes events until the relay is stopped or a publish fails. Each call opens its own connection to NATS. */
async function relay(): Promise<void> {
  // Without `reconnect`, the client does not buffer publishes while it is disconnected: relay() is called again instead.
  const nats = await connect({
    servers: NATS_URL.split(','),
    name: 'petstore-relay',
    reconnect: false,
    timeout: NATS_TIMEOUT_MS,
    pingInterval: NATS_PING_EVERY_MS,
  })
  const failed = new AbortController()
  void nats.closed().then((error) => failed.abort(error ?? new Error('The connection to NATS was closed')))
  try {
    await publishEvents(nats, failed)
  } finally {
    await nats.close()
  }
}

async function publishEvents(nats: NatsConnection, failed: AbortController): Promise<void> {
  const last = await findLastMessage(nats)
  console.error(`Publishing to ${STREAM} after ${last.position ?? 'the start of the feed'}.`)
  const js = jetstream(nats, { timeout: NATS_TIMEOUT_MS })
  const signal = AbortSignal.any([stopping.signal, failed.signal])
  /** JetStream stores the event only directly after its predecessor. If one publish fails, all later ones fail too. */
  const publish = async (event: StoreEvent, lastSequence: number) => {
    try {
      const subject = `petstore.${event.type}.${event.petId}`
      await js.publish(subject, JSON.stringify(event), { msgID: event.position, expect: { lastSequence } })
      failures = 0
    } catch (error) {
      failed.abort(error)
    }
  }

  const inFlight: Promise<void>[] = []
  let { sequence } = last
  try {
    for await (const event of store.events.follow({ after: last.position, signal })) {
      inFlight.push(publish(event, sequence))
      sequence += 1
      if (inFlight.length >= IN_FLIGHT_MAX) await inFlight.shift()
      if (signal.aborted) break
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await Promise.all(inFlight)
  }
  failed.signal.throwIfAborted()
}

interface LastMessage {
  /** Number of the message in the stream; 0 if there is none. */
  sequence: number
  /** Position of its event in the feed; undefined stands for the start of the feed. */
  position: string | undefined
}

/** Creates the stream if it does not exist. */
async function findLastMessage(nats: NatsConnection): Promise<LastMessage> {
  const { streams } = await jetstreamManager(nats, { timeout: NATS_TIMEOUT_MS })
  const { state } = await streams.info(STREAM).catch((error: unknown) => {
    const isMissing = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound
    if (!isMissing) throw error
    return streams.add({
      name: STREAM,
      subjects: ['petstore.>'],
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
      // No limit by age: the newest message must stay, because its position is where a relay continues.
      max_bytes: STREAM_BYTES_MAX,
    })
  })
  if (state.last_seq === 0) return { sequence: 0, position: START_AFTER }
  const message = await streams.getMessage(STREAM, { seq: state.last_seq })
  const position = message?.header.get('Nats-Msg-Id')
  if (!position) {
    throw new PermanentError(
      `The newest message of the stream ${STREAM} was deleted, or does not come from a relay. Delete the stream and start again from an export.`,
    )
  }
  return { sequence: state.last_seq, position }
}

/** What to do about an error that a retry does not fix; undefined for other errors. */
function permanentProblem(error: unknown): string | undefined {
  if (error instanceof PermanentError) return error.message
  if (!(error instanceof PetstoreError)) return undefined
  if (error.code === 'events_expired') {
    return `${error.message} The stream ${STREAM} cannot continue: delete it and start again from an export.`
  }
  const isPermanent = error.status === 400 || error.status === 401 || error.status === 403
  return isPermanent ? `Petstore rejected the request (${error.status}): ${error.message}` : undefined
}
