// Injects a fault at one chosen point of a statement on its way to PostgreSQL and back.
import { type Link, type Relay, reset } from '../../lab/parts/tcp-proxy.ts'
import { requestsEncryption, endsResponse, endsRequest, type Message } from './postgres-messages.ts'
import { notice, openSplitter, statementOf } from './postgres-messages.ts'

/** The moments of a statement, from before its first byte is sent to its last byte received. */
export const MOMENTS = [
  'before sending',
  'half sent',
  'sent, no response yet',
  'executed, no response yet',
  'half a row received',
  'before the end of the response',
  'after the response',
] as const
export type Moment = (typeof MOMENTS)[number]

/**
 * - `end`: orderly close (FIN); `reset`: RST; `reset on one side`: RST that PostgreSQL notices later
 * - `silence`: nothing more until the service times out; `delay`: a pause
 * - `shutdown`, `idle timeout`: PostgreSQL ends the connection, because it shuts down or a transaction was idle too long
 * - `warning`: the response has the warning that a standby may not have the data
 */
export const KINDS = [
  'end',
  'reset',
  'reset on one side',
  'silence',
  'delay',
  'shutdown',
  'idle timeout',
  'warning',
] as const
export type Kind = (typeof KINDS)[number]

export interface Fault {
  moment: Moment
  kind: Kind
}

export interface Faults {
  /** Called once for each statement, before it is sent. */
  decide: (statement: string) => Fault | undefined
  /** Called when a fault happens. */
  onInjected: (fault: Fault, statement: string) => void
}

const WARNING = notice(
  'WARNING',
  '01000',
  'canceling wait for synchronous replication due to user request',
  'SyncRepWaitForLSN',
)
const FATAL_NOTICES: Partial<Record<Kind, Buffer>> = {
  shutdown: notice(
    'FATAL',
    '57P01',
    'terminating connection due to administrator command',
    'ProcessInterrupts',
  ),
  'idle timeout': notice(
    'FATAL',
    '25P03',
    'terminating connection due to idle-in-transaction timeout',
    'ProcessInterrupts',
  ),
}

const DELAY_MS = 40
const UNNOTICED_MS = 250
/** How long to wait before a reset, because a reset discards bytes that were not yet read. */
const RESET_AFTER_MS = 5

/** Whether the moment is before the first byte of the response. */
export function isBeforeResponse(moment: Moment): boolean {
  return ['before sending', 'half sent', 'sent, no response yet'].includes(moment)
}

/** Passes everything on, except what a fault drops. */
export function faultyRelay(link: Link, { decide, onInjected }: Faults): Relay {
  const { client, upstream } = link
  const ofClient = openSplitter('client')
  const ofServer = openSplitter('server')
  let statement = ''
  let sending: Buffer[] = []
  let response: Message[] = []
  /** The fault that waits for the response to the statement in flight. */
  let awaited: Fault | undefined
  let isOpaque = false
  /** Messages of the client that wait behind a delay. */
  const queued: Message[] = []
  let isHeldUp = false

  /** Injects the fault; `rest` continues with what would have come next. */
  function happen(fault: Fault, rest: () => void): void {
    onInjected(fault, statement)
    if (fault.kind === 'warning') return rest()
    if (fault.kind === 'delay') {
      isHeldUp = true
      setTimeout(() => {
        if (link.isOver) return
        isHeldUp = false
        rest()
        passQueued()
      }, DELAY_MS)
      return
    }
    link.isOver = true
    if (fault.kind === 'silence') {
      // A slow network delivers the bytes when the service no longer waits for them.
      if (isBeforeResponse(fault.moment)) client.prependOnceListener('close', rest)
      return
    }
    if (fault.kind === 'reset on one side') {
      link.unnoticedMs = UNNOTICED_MS
      reset(client)
      return
    }
    upstream.end()
    if (fault.kind !== 'reset') client.end(FATAL_NOTICES[fault.kind] ?? '')
    else setTimeout(() => reset(client), RESET_AFTER_MS)
  }

  function send(bytes: Buffer): void {
    const fault = statement === 'terminate' ? undefined : decide(statement)
    if (fault === undefined) return void upstream.write(bytes)
    const half = bytes.length >> 1
    if (fault.moment === 'before sending') return happen(fault, () => upstream.write(bytes))
    if (fault.moment === 'half sent') {
      upstream.write(bytes.subarray(0, half))
      return happen(fault, () => upstream.write(bytes.subarray(half)))
    }
    upstream.write(bytes)
    if (fault.moment === 'sent, no response yet') return happen(fault, () => {})
    awaited = fault
  }

  /** The whole response has arrived, so PostgreSQL has executed and committed the statement. */
  function deliver(fault: Fault): void {
    const bytes = Buffer.concat(response.map((message) => message.bytes))
    const end = response.at(-1)?.bytes.length ?? 0
    const parts: Partial<Record<Moment, number>> = {
      'half a row received': halfOfARow(response),
      'before the end of the response': bytes.length - end,
      'after the response': bytes.length,
    }
    const split = parts[fault.moment] ?? 0
    response = []
    awaited = undefined
    if (split > 0) client.write(bytes.subarray(0, split))
    happen(fault, () => {
      if (fault.kind === 'warning') client.write(WARNING)
      client.write(bytes.subarray(split))
    })
  }

  function passQueued(): void {
    const isStopped = () => isHeldUp || link.isOver
    while (!isStopped() && queued.length > 0) {
      const message = queued.shift() as Message
      statement = statementOf(message) ?? statement
      sending.push(message.bytes)
      isOpaque = requestsEncryption(message.bytes)
      if (!endsRequest(message)) continue
      const bytes = Buffer.concat(sending)
      sending = []
      send(bytes)
    }
  }

  return {
    fromClient: (chunk) => {
      if (link.isOver) return
      if (isOpaque) {
        upstream.write(chunk)
        return
      }
      queued.push(...ofClient(chunk))
      passQueued()
    },
    fromServer: (chunk) => {
      if (link.isOver) return
      // Without an awaited fault, bytes pass unchanged.
      const messages = isOpaque ? [] : ofServer(chunk)
      if (awaited === undefined) {
        client.write(chunk)
        return
      }
      response.push(...messages)
      const last = messages.at(-1)
      if (last !== undefined && endsResponse(last)) deliver(awaited)
    },
  }
}

/** The middle of the first row, or of the first message if there is no row. */
function halfOfARow(response: readonly Message[]): number {
  const row = Math.max(
    0,
    response.findIndex(({ type }) => type === 'D'),
  )
  const before = response.slice(0, row).reduce((sum, { bytes }) => sum + bytes.length, 0)
  return before + ((response[row]?.bytes.length ?? 0) >> 1)
}
