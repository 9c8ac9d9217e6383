// `petstore top`: shows what running processes do, from the metrics of their admin ports.
import { type Command, InvalidArgumentError } from 'commander'
import { readAdminConfig } from '../config/config.ts'
import { parseInteger } from './terminal/arguments.ts'
import { EXIT_FAILED, EXIT_TRY_LATER } from './terminal/exit-codes.ts'
import { CommandError } from './terminal/terminal.ts'
import type { TopOptions } from './top/run.ts'

const INTERVAL_SECONDS = 1
const INTERVAL_MAX_SECONDS = 60
const PROCESSES_MAX = 50

export function addTop(program: Command): void {
  program
    .command('top')
    .description('watch running processes: requests, errors, latencies, PostgreSQL, events and webhooks')
    .argument(
      '[urls...]',
      'URLs of admin ports (default: ADMIN_HOST and ADMIN_PORT of this environment)',
      addAddress,
    )
    .option(
      '--interval <seconds>',
      'time between two scrapes; rates and latencies are those of this time',
      parseInteger(1, INTERVAL_MAX_SECONDS),
      INTERVAL_SECONDS,
    )
    .option('--once', 'print one readings and exit')
    .option('--json', 'print one readings as a JSON object and exit')
    .addHelpText(
      'after',
      `
Reads /metrics of "petstore serve" and "petstore deliver" processes. Needs no API key and no access to the database.
Problems are on top, with the words of docs/runbook.md and the limits of deploy/monitoring/alerts.yaml.
Press q or Ctrl-C to quit. If standard output is not a terminal, the command prints one readings, as with --once.
docs/monitoring.md lists the fields of --json.

Exit codes:
  0    you quit, or the readings was printed
  ${EXIT_FAILED}    an argument or environment variable is wrong
  ${EXIT_TRY_LATER}   with --once or --json: no process returned its metrics

Examples:
  petstore top
  petstore top http://127.0.0.1:9091 http://127.0.0.1:9092
  petstore top --once --json --interval 10 10.0.0.21:9090`,
    )
    .action(async (given: URL[], options: TopOptions) => {
      const addresses = given.length > 0 ? given : [defaultAddress()]
      // Imported on demand, so that other commands start faster.
      const { runTop } = await import('./top/run.ts')
      await runTop(addresses, options)
    })
}

/** Adds an address to those before it. An address that occurs twice is read once. */
function addAddress(text: string, before: URL[] = []): URL[] {
  const url = parseAddress(text)
  const all = before.some(({ origin }) => origin === url.origin) ? before : [...before, url]
  if (all.length <= PROCESSES_MAX) return all
  throw new InvalidArgumentError(`The max is ${PROCESSES_MAX} URLs.`)
}

/** Accepts `host:port` too, and the whole URL of the metrics. */
function parseAddress(text: string): URL {
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`)
  const isPlain = url !== null && url.username === '' && url.search === '' && url.hash === ''
  if (isPlain && ['/', '/metrics'].includes(url.pathname)) return url
  throw new InvalidArgumentError('Use a URL such as http://127.0.0.1:9090.')
}

function defaultAddress(): URL {
  const { ADMIN_HOST, ADMIN_PORT } = readAdminConfig()
  if (ADMIN_PORT === 0) {
    throw new CommandError(
      'ADMIN_PORT is 0, which is any free port. Pass the URL: petstore top http://127.0.0.1:…',
    )
  }
  // A process that listens on all addresses is reachable on the loopback address.
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[ADMIN_HOST] ?? ADMIN_HOST
  return new URL(`http://${host.includes(':') ? `[${host}]` : host}:${ADMIN_PORT}`)
}
