// The command line of the drill.
// Checks only the form of each value; starts nothing.
import { resolve } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { Connection } from '../cluster/cluster.ts'
import { FAULTS } from '../cluster/faults.ts'
import { FAULT_NAMES, type PlannedFault } from './plan.ts'

const SEED_MAX = 2 ** 32 - 1
const SETTLE_SECONDS_DEFAULT = 15
const SETTLE_SECONDS_MAX = 600
const EVERY_SECONDS_DEFAULT = 180
const EVERY_SECONDS_MAX = 3_600
export const FOLDER_DEFAULT = '/var/tmp/petstore-drill'
const CONNECTIONS: readonly Connection[] = ['haproxy', 'multi-host']
const REPLICATIONS = ['quorum', 'asynchronous'] as const

const ROUNDS_DEFAULT = 3
const ROUNDS_MAX = 100
const RESTORE = 'restore'

export interface Options {
  /** Whether to restore backups instead of causing faults. */
  restore: boolean
  rounds: number
  faults: PlannedFault[]
  short: boolean
  /** At half capacity, a fault every few minutes, with the resources of the service measured. */
  soak: boolean
  seed: number
  connection: Connection
  replication: 'quorum' | 'asynchronous'
  /** Folder of the service to test. */
  service: string
  /** Holds the Debian root, and a folder for each run. */
  folder: string
  settleSeconds: number
  /** Of a soak: seconds between the starts of two faults. */
  everySeconds: number
  json: string | undefined
  chart: string | undefined
}

/** The command line is wrong. The message says which argument, and what is allowed. */
export class UsageError extends Error {}

/** Returns 'help' if the command line asks for the help text. */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values, positionals } = parse(args)
  if (values.help) return 'help'
  const isRestore = positionals[0] === RESTORE
  if (isRestore) checkRestore(values, positionals)
  else if (values.rounds !== undefined) throw new UsageError('--rounds is only for restore.')
  const faults = isRestore ? [] : positionals
  checkFaultNames(faults, FAULT_NAMES)
  if (values.short && (values.soak || positionals.length > 0)) {
    throw new UsageError('--short has its own faults. Leave out --short, or --soak and the names of faults.')
  }
  return {
    restore: isRestore,
    rounds: readInteger('--rounds', values.rounds, ROUNDS_MAX) ?? ROUNDS_DEFAULT,
    faults: faults as PlannedFault[],
    short: values.short,
    soak: values.soak,
    seed: readInteger('--seed', values.seed, SEED_MAX) ?? Math.floor(Math.random() * SEED_MAX),
    connection: oneOf('--connect', values.connect, CONNECTIONS),
    replication: oneOf('--replication', values.replication, REPLICATIONS),
    service: resolve(values.service),
    folder: resolve(values.folder),
    settleSeconds: readInteger('--settle', values.settle, SETTLE_SECONDS_MAX) ?? SETTLE_SECONDS_DEFAULT,
    everySeconds: readInteger('--every', values.every, EVERY_SECONDS_MAX) ?? EVERY_SECONDS_DEFAULT,
    json: values.json === undefined ? undefined : resolve(values.json),
    chart: values.chart === undefined ? undefined : resolve(values.chart),
  }
}

function parse(args: readonly string[]) {
  return parseCommandLine(args, {
    help: { type: 'boolean', short: 'h', default: false },
    short: { type: 'boolean', default: false },
    soak: { type: 'boolean', default: false },
    every: { type: 'string' },
    seed: { type: 'string' },
    connect: { type: 'string', default: 'haproxy' },
    replication: { type: 'string', default: 'quorum' },
    service: { type: 'string', default: resolve(import.meta.dirname, '../..') },
    folder: { type: 'string', default: FOLDER_DEFAULT },
    settle: { type: 'string' },
    rounds: { type: 'string' },
    json: { type: 'string' },
    chart: { type: 'string' },
  })
}

/** Throws a UsageError for an unknown option, or for one without its value. */
export function parseCommandLine<const Declared extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: Declared,
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

export function checkFaultNames(names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new UsageError(`Unknown fault: ${unknown.join(', ')}. The faults are: ${known.join(', ')}.`)
}

/** Options that only faults have. */
function checkRestore(values: ReturnType<typeof parse>['values'], positionals: readonly string[]): void {
  if (positionals.length > 1) throw new UsageError('restore causes no faults. Leave out the names of faults.')
  const unused = (['short', 'settle', 'chart'] as const).filter((name) => values[name])
  if (unused.length > 0) throw new UsageError(`restore has no option --${unused.join(' and no --')}.`)
}

export function readInteger(option: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,10}$/.test(text) || Number(text) > max) {
    throw new UsageError(`${option} must be a whole number from 0 to ${max}, not "${text}".`)
  }
  return Number(text)
}

function oneOf<Value extends string>(option: string, text: string, allowed: readonly Value[]): Value {
  const found = allowed.find((value) => value === text)
  if (found === undefined) throw new UsageError(`${option} must be ${allowed.join(' or ')}, not "${text}".`)
  return found
}

export function helpText(): string {
  const width = Math.max(...FAULT_NAMES.map((name) => name.length))
  const faults = FAULT_NAMES.map((name) => `  ${name.padEnd(width)}  ${FAULTS[name].description}`)
  return `Usage: npm run drill -- [fault…] [options]
       npm run drill -- restore [--rounds N] [options]
       npm run drill -- alerts [fault…] [options]
       npm run drill -- production [options]

Starts a three-node PostgreSQL cluster and two service processes, puts load on them, causes faults, and checks
that no acknowledged write is lost or duplicated, and that a mirror that follows the event feed equals the database.
Needs root on Linux. Without faults: the full plan of 63 faults.

With restore, takes backups of the cluster under load with pgBackRest, restores them to moments of that load, and checks
that each copy has every write acknowledged before its moment and no write sent after it. Then damages copies of the
backups, and at last loses all nodes and restores the cluster. Takes about ten minutes.

With alerts, checks that each fault of a store causes exactly the alerts that an operator must get. It has its own
faults and options: npm run drill -- alerts --help

With production, runs the commands of docs/production.md on a fresh Debian: npm run drill -- production --help

Options:
  --short                 only isolate and kill-node, in at most six minutes
  --soak                  at half capacity, a fault every three minutes, and the resources of the service over time
  --every SECONDS         with --soak: time between two faults (default: ${EVERY_SECONDS_DEFAULT})
  --seed N                use the plan and the random choices of an earlier run
  --connect HOW           how the service connects: haproxy or multi-host (default: haproxy)
  --replication MODE      quorum or asynchronous (default: quorum); with asynchronous, failovers lose writes
  --service DIR           folder of the service to test (default: this checkout)
  --folder DIR            folder for the Debian root and the runs (default: ${FOLDER_DEFAULT})
  --settle SECONDS        wait after each fault (default: ${SETTLE_SECONDS_DEFAULT})
  --rounds N              restore: number of moments (default: ${ROUNDS_DEFAULT})
  --json FILE             write the report as JSON
  --chart FILE            write a chart of acknowledged writes and reads per second as SVG
  --help                  print this text

Faults:
${faults.join('\n')}

Exit codes:
  0  no violation
  1  at least one violation, or the cluster failed
  2  wrong usage

Examples:
  npm run drill -- --short
  npm run drill -- isolate isolate switchover --settle 5
  npm run drill -- --soak --json soak.json --chart soak.svg
  npm run drill -- restore --json restore.json
  npm run drill -- --seed 42 --json report.json --chart chart.svg`
}
