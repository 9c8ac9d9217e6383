// `petstore webhooks forward`: follows the feed of a running service and posts each event, signed, to a program that a
// developer runs on the own machine.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { EventType } from '../../client/src/petstore.ts'
import { makeSecret, readSecret, writeSecret } from '../events/webhooks/signature.ts'
import { countOf } from '../values/count-text.ts'
import { LATEST, START, TYPE_STYLES, TYPE_WIDTH, TYPES } from './event-types.ts'
import type { ForwardAttempt } from './forwarder.ts'
import { parseInteger } from './terminal/arguments.ts'
import { toJson } from './terminal/output.ts'
import { addRemoteOptions, callService, type Remote, type RemoteOptions } from './terminal/remote.ts'
import { type Cell, localClock, openTable, paint, printPart, say, visible } from './terminal/terminal.ts'

const LIMIT_MAX = 1_000_000_000

interface ForwardCommandOptions extends RemoteOptions {
  type?: EventType[]
  after: string
  secret?: Buffer
  limit?: number
}

export function addForward(webhooks: Command): void {
  const forward = webhooks
    .command('forward')
    .description('send new events to a URL on your own machine, to develop a receiver, until Ctrl-C')
    .argument('<receiver>', 'URL of your receiver, such as http://localhost:4000/hook', parseReceiver)
    .addOption(new Option('--type <type...>', 'send only events of these types').choices(TYPES))
    .option(
      '--after <position>',
      `send the events after this position; "${START}" stands for the start of the feed`,
      LATEST,
    )
    .option(
      '--secret <secret>',
      'secret that signs the events, for development only (default: a new secret, which is printed)',
      parseSecret,
    )
    .option('--limit <n>', 'stop after this many events', parseInteger(1, LIMIT_MAX))
    .action((receiver: string, options: ForwardCommandOptions) =>
      callService(options, (remote) => forwardEvents(receiver, options, remote)),
    )
  addRemoteOptions(
    forward,
    [
      'petstore webhooks forward http://localhost:4000/hook',
      'petstore webhooks forward http://localhost:4000/hook --type pet.created pet.updated',
      'petstore webhooks forward http://localhost:4000/hook --after start --limit 10',
    ],
    {
      json: 'print one JSON object per attempt; ids keep every digit',
      timeout: 'max time to wait for the first connection to the service, including retries',
      success: 'stopped by Ctrl-C, or by --limit',
    },
  )
}

async function forwardEvents(
  receiver: string,
  options: ForwardCommandOptions,
  remote: Remote,
): Promise<void> {
  const { after, type, secret = makeSecret(), limit = Number.POSITIVE_INFINITY } = options
  const signal = remote.call.signal ?? new AbortController().signal
  // Imported on demand, so that other commands start faster.
  const { forwardEvent } = await import('./forwarder.ts')
  let done = after
  const show = attemptPrinter(receiver, options.json ?? false, () => done)
  const connection = reportConnection(() => {
    remote.stopWaiting()
    say(`Sending events to ${receiver}. Press Ctrl-C to stop.`)
    if (options.secret === undefined) say(`The signatures have the secret ${writeSecret(secret)}`)
  })
  const events = remote.store.events.follow({
    ...connection,
    signal,
    after: after === START ? undefined : after,
    type,
    onPosition: (position) => {
      done = position
    },
  })
  let delivered = 0
  let givenUp = 0
  try {
    for await (const event of events) {
      const isDelivered = await forwardEvent(event, { url: receiver, secret, signal, onAttempt: show })
      if (signal.aborted) break
      done = event.position
      if (isDelivered) delivered += 1
      else givenUp += 1
      if (delivered + givenUp === limit) break
    }
  } catch (error) {
    // Ctrl-C is the usual end of this command.
    if (!signal.aborted) throw error
  }
  const failed = givenUp === 0 ? '' : `, gave up ${givenUp}`
  say(`Delivered ${countOf(delivered, 'event')}${failed}. To continue, use --after ${done}`)
}

/** Reports the first connection, and each outage once. */
function reportConnection(onFirst: () => void) {
  let state: 'new' | 'open' | 'lost' = 'new'
  return {
    onConnect: () => {
      if (state === 'new') onFirst()
      state = 'open'
    },
    onReconnect: ({ message }: Error) => {
      if (state === 'open') say(paint('dim', `${visible(message)} Reconnecting.`))
      if (state !== 'new') state = 'lost'
    },
  }
}

/** Prints each attempt, and what to do about a failure. The same advice is printed once, until an attempt succeeds. */
function attemptPrinter(receiver: string, asJson: boolean, position: () => string) {
  const table = openTable()
  let given: string | undefined
  return async (attempt: ForwardAttempt): Promise<void> => {
    const { retryMs: _retryMs, ...delivery } = attempt
    await printPart(`${asJson ? toJson(delivery) : table([toRow(attempt)])}\n`)
    const advice = attempt.outcome === 'delivered' ? undefined : adviceFor(attempt, receiver)
    if (advice !== undefined && advice !== given) say(paint('yellow', advice))
    given = advice
    if (attempt.outcome === 'given_up') say(`To send it again, run the command with --after ${position()}`)
  }
}

function toRow({
  at,
  type,
  petId,
  outcome,
  responseStatus,
  failure,
  durationMs,
  retryMs,
}: ForwardAttempt): Cell[] {
  const isDelivered = outcome === 'delivered'
  const next = retryMs === undefined ? 'gave up' : `retry in ${retryMs / 1_000} s`
  return [
    localClock(at),
    { text: type.padEnd(TYPE_WIDTH), style: TYPE_STYLES[type as EventType] ?? 'bold' },
    petId,
    { text: String(responseStatus ?? failure), style: isDelivered ? 'green' : 'red' },
    `${durationMs} ms`,
    isDelivered ? '' : next,
  ]
}

function adviceFor({ responseStatus: status = 0, failure }: ForwardAttempt, receiver: string): string {
  if (failure === 'connection_refused') return `No program listens on ${receiver}. Start your receiver.`
  if (failure === 'timeout')
    return 'The receiver must respond within 15 seconds. Respond before you process the event.'
  if (failure !== undefined) return 'There was no response. Check the URL, and the log of your receiver.'
  if (status >= 300 && status < 400) return 'Redirects are not followed. Use the URL of their target.'
  if (status === 404 || status === 405) return 'Check the path of the URL. The receiver must accept POST.'
  if ([400, 401, 403].includes(status)) {
    return 'If the signature was rejected, check the secret, and verify the body before you parse it.'
  }
  return 'The receiver must return a status from 200 to 299. See the log of your receiver.'
}

/** `fetch` accepts no user name and no password in a URL. */
function parseReceiver(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url !== undefined && isHttp && url.username === '' && url.password === '') return url.href
  throw new InvalidArgumentError(
    'Use an http: or https: URL without a user name, such as http://localhost:4000/hook.',
  )
}

function parseSecret(text: string): Buffer {
  const secret = readSecret(text)
  if (secret !== undefined) return secret
  throw new InvalidArgumentError(
    'Use "whsec_" and 24 to 64 bytes in base64, as `petstore webhooks create` prints them.',
  )
}
