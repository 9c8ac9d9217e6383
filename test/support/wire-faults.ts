// What can happen to one statement on its way to PostgreSQL and back, and making it happen at exactly one place.
import { asksForEncryption, endsResponse, endsRequest, type Message } from './postgres-messages.ts'
import { notice, openSplitter, statementOf } from './postgres-messages.ts'
import type { Link, Relay } from './proxy.ts'

/** How far a statement has come, from the service's first byte to PostgreSQL's last. */
export const MOMENTS = [
  'before it is sent',
  'half sent',
  'sent, no answer yet',
  'done, not answered',
  'half a row answered',
  'answered but for its end',
  'after its answer',
] as const
export type Moment = (typeof MOMENTS)[number]

/**
 * The connection ends in order (FIN), or is reset (RST), or is reset and PostgreSQL hears of it later, or falls silent for as long as the service waits, or is held
 * up for a while; PostgreSQL shuts down, or ends a transaction in which nothing was asked for too long; or everything
 * arrives with the warning that a standby may not have it.
 */
export const KINDS = [
  'end',
  'reset',
  'reset on one side',
  'silence',
  'delay',
  'shutdown',
  'idle too long',
  'warning',
] as const
export type Kind = (typeof KINDS)[number]

export interface Fault {
  moment: Moment
  kind: Kind
}

export interface Faults {
  /** Asked once for each statement, as it is about to be sent. */
  decide: (statement: string) => Fault | undefined
  /** Called when a fault really happens. */
  onInjected: (fault: Fault, statement: string) => void
}

const WARNING = notice(
  'WARNING',
  '01000',
  'canceling wait for synchronous replication due to user request',
  'SyncRepWaitForLSN',
)
const LAST_WORDS: Partial<Record<Kind, Buffer>> = {
  shutdown: notice(
    'FATAL',
    '57P01',
    'terminating connection due to administrator command',
    'ProcessInterrupts',
  ),
  'idle too long': notice(
    'FATAL',
    '25P03',
    'terminating connection due to idle-in-transaction timeout',
    'ProcessInterrupts',
  ),
}

const DELAY_MS = 40
const UNHEARD_MS = 250
/** So that the bytes before a reset arrive: a reset overtakes what was not read yet. */
const RESET_AFTER_MS = 5

/** Whether it comes before PostgreSQL has said anything. */
export function isBeforeResponse(moment: Moment): boolean {
  return ['before it is sent', 'half sent', 'sent, no answer yet'].includes(moment)
}

/** Passes everything on, but for what a fault takes. */
export function faultyRelay(link: Link, { decide, onInjected }: Faults): Relay {
  const { client, upstream } = link
  const ofClient = openSplitter('client')
  const ofServer = openSplitter('server')
  let statement = ''
  let sending: Buffer[] = []
  let response: Message[] = []
  /** The fault that waits for the answer of the statement under way. */
  let awaited: Fault | undefined
  let isOpaque = false
  /** What has come from the client and waits behind a delay. */
  const queued: Message[] = []
  let isHeldUp = false

  /** The fault happens here; what would have come next is the rest. */
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
      // A network that was slow rather than cut delivers in the end, when nobody waits any more.
      if (isBeforeResponse(fault.moment)) client.prependOnceListener('close', rest)
      return
    }
    if (fault.kind === 'reset on one side') {
      link.unheardMs = UNHEARD_MS
      client.resetAndDestroy()
      return
    }
    upstream.end()
    if (fault.kind !== 'reset') client.end(LAST_WORDS[fault.kind] ?? '')
    else setTimeout(() => client.resetAndDestroy(), RESET_AFTER_MS)
  }

  function send(bytes: Buffer): void {
    const fault = statement === 'terminate' ? undefined : decide(statement)
    if (fault === undefined) return void upstream.write(bytes)
    const half = bytes.length >> 1
    if (fault.moment === 'before it is sent') return happen(fault, () => upstream.write(bytes))
    if (fault.moment === 'half sent') {
      upstream.write(bytes.subarray(0, half))
      return happen(fault, () => upstream.write(bytes.subarray(half)))
    }
    upstream.write(bytes)
    if (fault.moment === 'sent, no answer yet') return happen(fault, () => {})
    awaited = fault
  }

  /** The whole answer is here, so PostgreSQL has done and committed what it was asked. */
  function deliver(fault: Fault): void {
    const bytes = Buffer.concat(response.map((message) => message.bytes))
    const end = response.at(-1)?.bytes.length ?? 0
    const parts: Partial<Record<Moment, number>> = {
      'half a row answered': halfOfARow(response),
      'answered but for its end': bytes.length - end,
      'after its answer': bytes.length,
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
      isOpaque = asksForEncryption(message.bytes)
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
      // What is not awaited passes as it comes.
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

/** Where the first row is half written; where there is none, the first message. */
function halfOfARow(response: readonly Message[]): number {
  const row = Math.max(
    0,
    response.findIndex(({ type }) => type === 'D'),
  )
  const before = response.slice(0, row).reduce((sum, { bytes }) => sum + bytes.length, 0)
  return before + ((response[row]?.bytes.length ?? 0) >> 1)
}
