// Shared by the commands that call a running service: options, the typed client, error messages and exit codes.
// These commands never connect to the database.
import { randomUUID } from 'node:crypto'
import { type Command, InvalidArgumentError } from 'commander'
import type { CallOptions, Petstore, PetstoreError } from '../../../client/src/petstore.ts'
import { CREATE_PET } from '../../../client/src/rules.ts'
import { type ClientConfig, readClientConfig } from '../../config/config.ts'
import { lengthText, parseInteger } from './arguments.ts'
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_TRY_LATER } from './exit-codes.ts'
import { paint, say, visible } from './terminal.ts'

const TIMEOUT_SECONDS = 15
const TIMEOUT_MAX_SECONDS = 3_600
/** All operations that accept a key have the same. */
const IDEMPOTENCY_KEY = CREATE_PET['idempotency-key']
const WAITING_MESSAGE_AFTER_MS = 2_000
/** Temporary errors of the service or of a proxy in front of it. */
const TEMPORARY_STATUSES: ReadonlySet<unknown> = new Set([408, 429, 502, 503, 504])
const TEMPORARY_CODES: ReadonlySet<unknown> = new Set(['network_error', 'timeout', 'idempotency_key_in_use'])
const WRONG_ADDRESS_CODES: ReadonlySet<unknown> = new Set([
  'network_error',
  'timeout',
  'unexpected_answer',
  'route_not_found',
])
const WRONG_KEY_CODES: ReadonlySet<unknown> = new Set(['missing_api_key', 'invalid_api_key'])

/** What to do after an error that its message does not explain. */
const ADVICE: Readonly<Record<string, string>> = {
  events_expired:
    'To continue with new events, use --after latest. To read all pets again, run: petstore export',
  webhook_not_found: 'List all webhooks with: petstore webhooks list',
  webhook_disabled: 'Fix the receiver, then run: petstore webhooks enable <id>',
  entry_not_found: 'List the entries of an order with: petstore till entries --order <id>',
  entry_final: 'Correct or refund the sale instead: petstore till --help',
  order_not_sold: 'The entries of the order say what happened: petstore till entries --order <id>',
  delivery_not_found: 'List the deliveries of a webhook with: petstore webhooks deliveries <id>',
  too_many_webhooks: 'Delete a webhook that you do not need with: petstore webhooks delete <id>',
}

export interface RemoteOptions {
  url?: string
  timeout: number
  json?: boolean
  idempotencyKey?: string
  /** For a change that is not safe to retry: the command that shows whether the change was made. */
  checkWith?: string
}

export interface Remote {
  store: Petstore
  /** Pass these options to every call, so that Ctrl-C aborts it. */
  call: CallOptions
  /** Call this after each page of a list. It restarts the timer of the waiting message. */
  restartWaiting: () => void
  /** Call this when the command has no timeout any more. It turns the waiting message off. */
  stopWaiting: () => void
}

interface OptionHelp {
  /** False if the command has no option --json. */
  json?: string | false
  timeout?: string
  /** How the command ends on Ctrl-C, if that is no failure. */
  success?: string
}

export const LIST_HELP = {
  json: 'print a JSON array; ids keep every digit',
  timeout: 'max time to wait for each page, including retries',
}

/** Adds the options and the end of the help that these commands share. `help` replaces the default texts. */
export function addRemoteOptions(command: Command, examples: readonly string[], help: OptionHelp = {}): void {
  if (help.json !== false)
    command.option('--json', help.json ?? 'print the response as JSON; ids keep every digit')
  command
    .option(
      '--url <url>',
      'URL of the service, with or without /v1 (default: PETSTORE_URL, or http://127.0.0.1:3000 if it is not set)',
    )
    .option(
      '--timeout <seconds>',
      help.timeout ?? 'max time to wait for the response, including retries',
      parseInteger(1, TIMEOUT_MAX_SECONDS),
      TIMEOUT_SECONDS,
    )
    .addHelpText(
      'after',
      `
Set the API key in PETSTORE_API_KEY. There is no option for the key, because other users
of the host can read command lines.

Exit codes:
  0    ${help.success ?? 'success'}
  ${EXIT_FAILED}    the request failed, or an argument or environment variable is wrong
  ${EXIT_TRY_LATER}   no response within --timeout, or a temporary error; retry later${help.success === undefined ? `\n  ${EXIT_INTERRUPTED}  stopped by Ctrl-C` : ''}

Examples:
${examples.map((example) => `  ${example}`).join('\n')}`,
    )
}

export function addIdempotencyKey(command: Command, created: 'pet' | 'order' | 'entry'): void {
  command.option(
    '--idempotency-key <text>',
    `key of ${lengthText(IDEMPOTENCY_KEY)} that makes a retry safe: for 24 hours, a command with the same key does not create a second ${created}`,
    parseIdempotencyKey,
  )
}

/** Generates a key if there is none, so that the message about an unknown outcome can name the key for the retry. */
export function withIdempotencyKey<Options extends RemoteOptions>(options: Options) {
  return { ...options, idempotencyKey: options.idempotencyKey ?? randomUUID() }
}

/** Runs `work`. If the service rejects a request, prints the error and sets the exit code. */
export async function callService(
  options: RemoteOptions,
  work: (remote: Remote) => Promise<void>,
): Promise<void> {
  const config = readClientConfig(options.url)
  // Imported on demand, so that other commands start faster.
  const client = await import('../../../client/src/petstore.ts')
  const interrupt = new AbortController()
  const onInterrupt = () => interrupt.abort()
  // Only the first Ctrl-C is handled: the second one kills the process.
  process.once('SIGINT', onInterrupt)
  const waiting = setTimeout(() => {
    if (!process.stderr.isTTY) return
    say(
      paint(
        'dim',
        `Waiting for ${config.PETSTORE_URL} (timeout ${options.timeout} s). Press Ctrl-C to stop.`,
      ),
    )
  }, WAITING_MESSAGE_AFTER_MS)
  let missingScope: string | undefined
  const store = new client.Petstore({
    baseUrl: config.PETSTORE_URL,
    apiKey: config.PETSTORE_API_KEY,
    deadlineMs: options.timeout * 1000,
    onDeprecated: ({ message }) => say(visible(message)),
    onIgnoredFields: ({ message }) => say(visible(message)),
    fetch: async (...request) => {
      const response = await fetch(...request)
      missingScope = /scope="([\w: ]+)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1]
      return response
    },
  })
  try {
    await work({
      store,
      call: { signal: interrupt.signal },
      restartWaiting: () => void waiting.refresh(),
      stopWaiting: () => clearTimeout(waiting),
    })
  } catch (error) {
    if (!(error instanceof client.PetstoreError)) throw error
    if (error.code === 'aborted') exitByInterrupt(error, options)
    else report(error, { config, options, missingScope })
  } finally {
    clearTimeout(waiting)
    process.off('SIGINT', onInterrupt)
  }
}

/** Ends the process by SIGINT, so that a shell loop around the command stops too. */
function exitByInterrupt(error: PetstoreError, options: RemoteOptions): void {
  if (error.outcomeUnknown) say(paint('yellow', retryAdvice(options)))
  process.exitCode = EXIT_INTERRUPTED
  process.kill(process.pid, 'SIGINT')
}

interface ErrorContext {
  config: ClientConfig
  options: RemoteOptions
  missingScope: string | undefined
}

function report(error: PetstoreError, { config, options, missingScope }: ErrorContext): void {
  const details = error.details.map(({ message }) => ` ${message}`).join('')
  const sentence = error.message.slice(0, error.message.length - details.length)
  say(paint('red', visible(sentence)))
  for (const { message } of error.details) say(`  ${visible(message)}`)
  const cause = rootCause(error)
  if (cause !== undefined) say(`  ${visible(cause)}`)
  if (error.code === 'insufficient_scope' && missingScope !== undefined) {
    const scopes = missingScope.split(' ')
    const [noun, pronoun] = scopes.length === 1 ? ['scope', 'this scope'] : ['scopes', 'these scopes']
    say(`The command needs the ${noun} ${scopes.join(' and ')}. Ask the operator for a key with ${pronoun}.`)
  }
  const advice = ADVICE[error.code]
  if (advice !== undefined) say(advice)
  if (WRONG_KEY_CODES.has(error.code)) {
    say('Check PETSTORE_API_KEY: the key must be complete, valid, and issued by this service.')
  }
  if (WRONG_ADDRESS_CODES.has(error.code)) {
    say(`The address is ${config.PETSTORE_URL}. To change it, set PETSTORE_URL or --url.`)
  }
  if (error.outcomeUnknown) say(paint('yellow', retryAdvice(options)))
  const request = error.requestId === undefined ? '' : `, request ${error.requestId}`
  say(paint('dim', visible(`(${error.code}${request})`)))
  process.exitCode = isTemporary(error) ? EXIT_TRY_LATER : EXIT_FAILED
}

function isTemporary({ code, status }: PetstoreError): boolean {
  return TEMPORARY_CODES.has(code) || TEMPORARY_STATUSES.has(status)
}

function retryAdvice({ idempotencyKey, checkWith }: RemoteOptions): string {
  if (checkWith !== undefined) return `The change may have been made. Check before you retry: ${checkWith}`
  const how = idempotencyKey === undefined ? 'again.' : `with --idempotency-key ${idempotencyKey}`
  return `The change may have been made. To retry safely, run the same command ${how}`
}

/** The innermost cause, such as a network error; undefined if the service itself returned the error. */
function rootCause(error: PetstoreError): string | undefined {
  let cause: unknown = error
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause
  if (cause === error || !(cause instanceof Error)) return undefined
  // The AggregateError for a host with several addresses has no message, only a code.
  return cause.message || ('code' in cause ? String(cause.code) : undefined)
}

/** Rejects characters that an HTTP header cannot contain. */
function parseIdempotencyKey(text: string): string {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(text) && text.length <= IDEMPOTENCY_KEY.maxLength) return text
  const length = lengthText(IDEMPOTENCY_KEY, 'printable ASCII characters')
  throw new InvalidArgumentError(`Use ${length}, without spaces at the ends.`)
}
