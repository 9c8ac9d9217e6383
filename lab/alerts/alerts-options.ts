// The command line of `npm run drill -- alerts`. Checks only the form of each value; starts nothing.
import { resolve } from 'node:path'
import {
  checkFaultNames,
  FOLDER_DEFAULT,
  parseCommandLine,
  readInteger,
  UsageError,
} from '../failover/options.ts'
import { PLANTED_FAULT_NAMES, PLANTED_FAULTS, type PlantedFaultName } from './planted-faults.ts'

/** An environment uses about a tenth of a core while nothing happens. */
const PARALLEL_DEFAULT = 4
const PARALLEL_MAX = 32

export interface AlertsOptions {
  faults: PlantedFaultName[]
  parallel: number
  /** Gets a folder for each run. */
  folder: string
  json: string | undefined
}

/** Returns 'help' if the command line asks for the help text. */
export function readAlertsOptions(args: readonly string[]): AlertsOptions | 'help' {
  const { values, positionals } = parseCommandLine(args, {
    help: { type: 'boolean', short: 'h', default: false },
    parallel: { type: 'string' },
    folder: { type: 'string', default: FOLDER_DEFAULT },
    json: { type: 'string' },
  })
  if (values.help) return 'help'
  checkFaultNames(positionals, PLANTED_FAULT_NAMES)
  const parallel = readInteger('--parallel', values.parallel, PARALLEL_MAX) ?? PARALLEL_DEFAULT
  if (parallel === 0) throw new UsageError('--parallel must be at least 1.')
  return {
    faults: positionals.length > 0 ? (positionals as PlantedFaultName[]) : PLANTED_FAULT_NAMES,
    parallel,
    folder: resolve(values.folder),
    json: values.json === undefined ? undefined : resolve(values.json),
  }
}

export function alertsHelpText(): string {
  const width = Math.max(...PLANTED_FAULT_NAMES.map((name) => name.length))
  const faults = PLANTED_FAULT_NAMES.map(
    (name) => `  ${name.padEnd(width)}  ${PLANTED_FAULTS[name].description}`,
  )
  return `Usage: npm run drill -- alerts [fault…] [options]

Causes each fault in a store of its own under load, which Prometheus and Alertmanager watch with the files of
deploy/monitoring, and checks that exactly the expected alerts are sent in time. Needs the Debian packages prometheus
and prometheus-alertmanager, but neither the Debian root nor the namespaces of the other drills. Without faults: all of them.

Options:
  --parallel N   how many stores run at the same time (default: ${PARALLEL_DEFAULT})
  --folder DIR   folder for the runs (default: ${FOLDER_DEFAULT})
  --json FILE    write the report as JSON
  --help         print this text

Faults:
${faults.join('\n')}

Exit codes:
  0  all alerts as expected
  1  at least one alert was missing, late or unexpected, or a store failed
  2  wrong usage

Examples:
  npm run drill -- alerts database-stopped key-expires
  npm run drill -- alerts --parallel 6 --json alerts.json`
}
