// The command line of `npm run drill -- production`. Checks only the form of each value; starts nothing.
import { resolve } from 'node:path'
import { FOLDER_DEFAULT, parseCommandLine, UsageError } from '../failover/options.ts'
import type { DebianVersion } from './machine.ts'

const VERSIONS: readonly DebianVersion[] = ['12', '13']
const PETS_DEFAULT = '1000'

export interface ProductionOptions {
  versions: readonly DebianVersion[]
  /** Whether to upgrade Debian 12 to 13 after the page, as in docs/upgrading.md. */
  upgrade: boolean
  /** Whether to leave out everything that the upgrade does not need. */
  upgradeOnly: boolean
  /** How many pets to import before the upgrade. */
  pets: number
  /** Whether to delete the data of PostgreSQL under load and to restore it, instead of the other checks. */
  restores: boolean
  /** Whether to damage the backups, instead of the other checks. */
  backupFaults: boolean
  /** Folder with the files of a release. If undefined, they are built from the checkout. */
  release: string | undefined
  folder: string
  json: string | undefined
}

/** Returns 'help' if the command line asks for the help text. */
export function readProductionOptions(args: readonly string[]): ProductionOptions | 'help' {
  const { values, positionals } = parseCommandLine(args, {
    help: { type: 'boolean', short: 'h', default: false },
    debian: { type: 'string' },
    upgrade: { type: 'boolean', default: false },
    'upgrade-only': { type: 'boolean', default: false },
    pets: { type: 'string', default: PETS_DEFAULT },
    restores: { type: 'boolean', default: false },
    'backup-faults': { type: 'boolean', default: false },
    release: { type: 'string' },
    folder: { type: 'string', default: FOLDER_DEFAULT },
    json: { type: 'string' },
  })
  if (values.help) return 'help'
  if (positionals.length > 0) throw new UsageError(`production has no argument "${positionals.join(' ')}".`)
  const debian = values.debian ?? (values['upgrade-only'] ? '12' : undefined)
  const versions = VERSIONS.filter((version) => debian === undefined || debian === version)
  if (versions.length === 0) throw new UsageError(`--debian must be 12 or 13, not "${values.debian}".`)
  const upgrade = values.upgrade || values['upgrade-only']
  if (upgrade && !versions.includes('12')) throw new UsageError('--upgrade needs --debian 12.')
  if (!/^[1-9]\d{0,6}$/.test(values.pets))
    throw new UsageError(`--pets must be a number from 1 to 9999999, not "${values.pets}".`)
  const [restores, backupFaults] = [values.restores, values['backup-faults']]
  if (upgrade && (restores || backupFaults))
    throw new UsageError('--upgrade cannot follow --restores or --backup-faults.')
  return {
    versions,
    upgrade,
    upgradeOnly: values['upgrade-only'],
    pets: Number(values.pets),
    restores,
    backupFaults,
    release: values.release === undefined ? undefined : resolve(values.release),
    folder: resolve(values.folder),
    json: values.json === undefined ? undefined : resolve(values.json),
  }
}

export function productionHelpText(): string {
  return `Usage: npm run drill -- production [options]

Runs every command of docs/production.md for one server on a fresh Debian with systemd, in namespaces of its own, with a package built
from this checkout. Then cuts its power, restores a moment, and checks the store. Needs root on Linux and a network.

Options:
  --debian VERSION  12 or 13 (default: first 12, then 13)
  --upgrade         also upgrade Debian 12 to 13, with the commands of docs/upgrading.md
  --upgrade-only    the same, without the power cuts, the restores and Debian 13
  --pets N          pets to import before the upgrade (default: ${PETS_DEFAULT})
  --restores        after the installation, only delete the data of PostgreSQL under load and restore it: three times the
                    newest state, and three times a moment
  --backup-faults   after the installation, only damage the backups, and check that each fault is reported
  --release DIR     folder with the files of a release (default: build them)
  --folder DIR      folder for the Debian roots and the runs (default: ${FOLDER_DEFAULT})
  --json FILE       write the report as JSON
  --help            print this text

Exit codes:
  0  every command and every check succeeded
  1  a command or a check failed
  2  wrong usage

Examples:
  npm run drill -- production --debian 13
  npm run drill -- production --upgrade-only --pets 1000000
  npm run drill -- production --debian 13 --restores`
}
