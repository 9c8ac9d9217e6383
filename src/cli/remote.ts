// What the commands that call a running service share: where it is, with which key, for how long, and how a refusal is
// told. They know the typed client alone, nothing of the database.
import { randomUUID } from 'node:crypto'
import { type Command, InvalidArgumentError } from 'commander'
import type { CallOptions, Petstore, PetstoreError } from '../../client/src/petstore.ts'
import { type ClientConfig, readClientConfig } from '../config.ts'
import { parseWhole } from './arguments.ts'
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_TRY_LATER } from './exit-codes.ts'
import { endWhenNobodyReads, paint, say, visible } from './terminal.ts'

const TIMEOUT_SECONDS = 15
const TIMEOUT_MAX_SECONDS = 3_600
/** From here on a person wonders; a script does not. */
const WAITING_TOLD_AFTER_MS = 2_000
/** Answers of the service, or of a proxy before it, that pass. */
const PASSING_STATUSES: ReadonlySet<unknown> = new Set([408, 429, 502, 503, 504])
const PASSING_CODES: ReadonlySet<unknown> = new Set(['network_error', 'timeout', 'idempotency_key_in_use'])
const WRONG_ADDRESS_CODES: ReadonlySet<unknown> = new Set([
  'network_error',
  'timeout',
  'unexpected_answer',
  'route_not_found',
])
const WRONG_KEY_CODES: ReadonlySet<unknown> = new Set(['missing_api_key', 'invalid_api_key'])

export interface RemoteOptions {
  url?: string
  timeout: number
  json?: boolean
  idempotencyKey?: string
  /** The command that shows whether a change was made, for a change that is not safe to retry. */
  checkWith?: string
}

export interface Remote {
  store: Petstore
  /** To be handed to every call: ends it on Ctrl-C. */
  call: CallOptions
  /** To be called after each part of a long result: what follows is waited for anew. */
  goesOn: () => void
}

/** What a command takes beside its own options, and the end of its help. */
export function addRemoteOptions(command: Command, examples: readonly string[]): void {
  command
    .option('--json', 'the answer of the service as JSON, with every digit of every id')
    .option('--url <url>', 'where the service is; else PETSTORE_URL, else http://127.0.0.1:3000/v1')
    .option(
      '--timeout <seconds>',
      'how long to try, for each page of a list',
      parseWhole(1, TIMEOUT_MAX_SECONDS),
      TIMEOUT_SECONDS,
    )
    .addHelpText(
      'after',
      `
The API key comes from PETSTORE_API_KEY alone: everybody on the host can read a command line.
Ends with 0 when it is done, ${EXIT_FAILED} when it was refused, ${EXIT_TRY_LATER} when nobody answered: try again later.

Examples:
${examples.map((example) => `  ${example}`).join('\n')}`,
    )
}

/** For a command that makes something: repeated with the same key, it makes no second one. */
export function addIdempotencyKey(command: Command, promise: string): void {
  command.option(
    '--idempotency-key <text>',
    `known again for 24 hours: repeated, it ${promise}`,
    parseIdempotencyKey,
  )
}

/** One is made where none was given, so that a lost answer can be told with the key to repeat it by. */
export function withIdempotencyKey<Given extends RemoteOptions>(given: Given) {
  return { ...given, idempotencyKey: given.idempotencyKey ?? randomUUID() }
}

/** Runs what a command does with the service, and tells a refusal in words and by the exit code. */
export async function callService(
  options: RemoteOptions,
  work: (remote: Remote) => Promise<void>,
): Promise<void> {
  endWhenNobodyReads()
  const config = readClientConfig(options.url)
  // Loaded here alone: the other commands do without.
  const client = await import('../../client/src/petstore.ts')
  const interrupt = new AbortController()
  const onInterrupt = () => interrupt.abort()
  // Once: a second Ctrl-C ends the process by itself.
  process.once('SIGINT', onInterrupt)
  const waiting = setTimeout(() => {
    if (!process.stderr.isTTY) return
    say(paint('dim', `Waiting for ${config.PETSTORE_URL}, ${options.timeout} s at most; Ctrl-C ends it.`))
  }, WAITING_TOLD_AFTER_MS)
  let lackingScope: string | undefined
  const store = new client.Petstore({
    baseUrl: config.PETSTORE_URL,
    apiKey: config.PETSTORE_API_KEY,
    deadlineMs: options.timeout * 1000,
    onDeprecated: ({ message }) => say(visible(message)),
    fetch: async (...request) => {
      const response = await fetch(...request)
      lackingScope = /scope="([\w:]+)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1]
      return response
    },
  })
  try {
    await work({ store, call: { signal: interrupt.signal }, goesOn: () => void waiting.refresh() })
  } catch (error) {
    if (!(error instanceof client.PetstoreError)) throw error
    if (error.code === 'aborted') endByInterrupt(error, options)
    else report(error, { config, options, lackingScope })
  } finally {
    clearTimeout(waiting)
    process.off('SIGINT', onInterrupt)
  }
}

/** As every program ends that knows nothing of Ctrl-C, so that a loop of a shell ends as well. */
function endByInterrupt(error: PetstoreError, options: RemoteOptions): void {
  if (error.outcomeUnknown) say(paint('yellow', howToRepeat(options)))
  process.exitCode = EXIT_INTERRUPTED
  process.kill(process.pid, 'SIGINT')
}

interface Circumstances {
  config: ClientConfig
  options: RemoteOptions
  lackingScope: string | undefined
}

function report(error: PetstoreError, { config, options, lackingScope }: Circumstances): void {
  const faults = error.details.map(({ message }) => ` ${message}`).join('')
  const sentence = error.message.slice(0, error.message.length - faults.length)
  say(paint('red', visible(sentence)))
  for (const { message } of error.details) say(`  ${visible(message)}`)
  const cause = firstCause(error)
  if (cause !== undefined) say(`  ${visible(cause)}`)
  if (error.code === 'insufficient_scope' && lackingScope !== undefined) {
    say(`This needs ${lackingScope}: ask for a key that has it.`)
  }
  if (WRONG_KEY_CODES.has(error.code)) {
    say('See that PETSTORE_API_KEY is complete, still valid, and of this service.')
  }
  if (WRONG_ADDRESS_CODES.has(error.code)) {
    say(`Asked ${config.PETSTORE_URL}; another address: PETSTORE_URL or --url.`)
  }
  if (error.outcomeUnknown) say(paint('yellow', howToRepeat(options)))
  const request = error.requestId === undefined ? '' : `, request ${error.requestId}`
  say(paint('dim', visible(`(${error.code}${request})`)))
  process.exitCode = isPassing(error) ? EXIT_TRY_LATER : EXIT_FAILED
}

function isPassing({ code, status }: PetstoreError): boolean {
  return PASSING_CODES.has(code) || PASSING_STATUSES.has(status)
}

function howToRepeat({ idempotencyKey, checkWith }: RemoteOptions): string {
  if (checkWith !== undefined) return `The change may have been made. Check before you retry: ${checkWith}`
  const how = idempotencyKey === undefined ? 'as it is' : `with --idempotency-key ${idempotencyKey}`
  return `It may have been done all the same. Repeat the command ${how}: nothing is done twice.`
}

/** What the network said, at the end of what each layer calls a failure; undefined where the service itself said no. */
function firstCause(error: PetstoreError): string | undefined {
  let cause: unknown = error
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause
  if (cause === error || !(cause instanceof Error)) return undefined
  // That of a host with several addresses has no text of its own.
  return cause.message || ('code' in cause ? String(cause.code) : undefined)
}

/** As the interface has it. What HTTP cannot carry is refused before anything is sent. */
function parseIdempotencyKey(text: string): string {
  if (/^[!-~](?:[ -~]{0,253}[!-~])?$/.test(text)) return text
  throw new InvalidArgumentError('It must have 1 to 255 letters, digits or signs of ASCII.')
}
