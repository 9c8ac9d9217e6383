// The two instances of the service, and the commands of its command line. The folder can be another version of the service.
import { join } from 'node:path'
import { PetstoreProcess, SERVICE_PATH } from '../parts/petstore-process.ts'
import { type CommandResult, run } from '../parts/processes.ts'

const SHUTDOWN_GRACE_MS = 3_000
const COMMAND_TIMEOUT_MS = 10 * 60_000

export interface ServiceOptions {
  /** Folder with bin/petstore.ts. */
  folder: string
  databaseUrl: string
  migrationDatabaseUrl: string
  logFolder: string
}

/** Runs a command of the service, for example `migrate`. */
export function runPetstore(options: ServiceOptions, args: string[], input?: string): Promise<CommandResult> {
  return run(executableOf(options), args, {
    env: { PATH: SERVICE_PATH, ...urlsOf(options) },
    timeoutMs: COMMAND_TIMEOUT_MS,
    ...(input !== undefined && { input }),
  })
}

/** One instance of the service, with a name for reports. */
export class Instance extends PetstoreProcess {
  readonly name: string

  constructor(number: number, options: ServiceOptions) {
    const name = `petstore-${number}`
    super({
      command: [executableOf(options), 'serve'],
      port: 3000 + number,
      adminPort: 9090 + number,
      environment: {
        ...urlsOf(options),
        TRUST_PROXY: 'loopback',
        SHUTDOWN_GRACE_MS: String(SHUTDOWN_GRACE_MS),
      },
      logFile: join(options.logFolder, `${name}.log`),
    })
    this.name = name
  }
}

function executableOf({ folder }: ServiceOptions): string {
  return join(folder, 'bin/petstore.ts')
}

function urlsOf({ databaseUrl, migrationDatabaseUrl }: ServiceOptions): Record<string, string> {
  return { DATABASE_URL: databaseUrl, MIGRATION_DATABASE_URL: migrationDatabaseUrl }
}
