// Assembles the commands, and turns errors into a message and an exit code.
import { Command } from 'commander'
import { ConfigError } from '../config/config.ts'
import { AppError } from '../contract/errors.ts'
import { VERSION } from '../values/version.ts'
import { addApiKeys } from './api-keys.ts'
import { addCategories } from './categories.ts'
import { addDeliver } from './deliver.ts'
import { addDemo } from './demo.ts'
import { addDoctor } from './doctor.ts'
import { addEvents } from './events.ts'
import { addExport } from './export.ts'
import { addImport } from './import.ts'
import { addInventory } from './inventory.ts'
import { addMcp } from './mcp.ts'
import { addMigrate } from './migrate.ts'
import { addOrders } from './orders.ts'
import { addPets } from './pets.ts'
import { addReport } from './report.ts'
import { addRestoreChecks } from './restore-checks.ts'
import { addServe, StartFailure } from './serve.ts'
import { addSettings } from './settings.ts'
import { EXIT_FAILED } from './terminal/exit-codes.ts'
import { exitOnClosedOutput, paint, say, wrapProse } from './terminal/terminal.ts'
import { addTill } from './till.ts'
import { addVerify } from './verify.ts'
import { addWebhooks } from './webhooks.ts'

/** Descriptions next to a long command are wrapped too: commander by default leaves columns below 40 as they are. */
const WRAPPED_WIDTH_MIN = 20

export function buildProgram(): Command {
  const program = new Command('petstore')
    .description('HTTP/JSON service for the catalogue and the sales of a pet store, on PostgreSQL.')
    .version(VERSION, '-V, --version', 'print the version')
    .showHelpAfterError('(add --help for usage)')
    .configureHelp({ subcommandTerm, minWidthToWrap: WRAPPED_WIDTH_MIN })
    .configureOutput({ writeOut: (text) => process.stdout.write(wrapProse(text)) })
    .addHelpText(
      'after',
      `
Examples:
  petstore migrate                            update the database schema
  petstore api-keys create --name web-shop    create an API key and print it
  petstore serve                              serve requests on port 3000
  petstore import pets.csv                    add the pets in a CSV file
  petstore doctor                             find problems, and how to fix them
  petstore pets list --status available       list the available pets
  petstore events tail                        print changes as they happen
  petstore webhooks create https://…          send changes to a URL
  petstore mcp                                let an assistant use the store
  petstore demo                               try Petstore with its own database

The commands under "Run the service" need DATABASE_URL, except demo. docs/configuration.md lists all environment variables.
The other commands need PETSTORE_API_KEY, and PETSTORE_URL unless the service listens on
127.0.0.1:3000. See docs/command-line.md.`,
    )
    .commandsGroup('Run the service:')
  addServe(program)
  addDeliver(program)
  addMigrate(program)
  addApiKeys(program)
  addImport(program)
  addExport(program)
  addDoctor(program)
  addVerify(program)
  addRestoreChecks(program)
  addReport(program)
  addDemo(program)
  program.commandsGroup('Use a running service:')
  addPets(program)
  addCategories(program)
  addOrders(program)
  addTill(program)
  addInventory(program)
  addSettings(program)
  addEvents(program)
  addWebhooks(program)
  program.commandsGroup('Connect an assistant to a running service:')
  addMcp(program)
  return program
}

/** A command in the list of its parent. Unlike the default, it shows the options that the command requires. */
function subcommandTerm(command: Command): string {
  return `${command.name()} ${command.commands.length > 0 ? '<command>' : command.usage()}`
}

/** Runs a command line. An error is printed and sets the exit code. */
export async function runProgram(commandLine: readonly string[]): Promise<void> {
  exitOnClosedOutput()
  try {
    await buildProgram().parseAsync(commandLine)
  } catch (error) {
    say(paint('red', explain(error instanceof StartFailure ? error.cause : error)))
    process.exitCode = EXIT_FAILED
    if (error instanceof StartFailure) process.exit()
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (error instanceof AppError && error.details)
    return error.details.map(({ message }) => message).join('\n')
  if (error instanceof AppError) return `${error.message}\n${causeOf(error)}Run: petstore doctor`
  if (!(error instanceof Error)) return String(error)
  const isUnreachable =
    'code' in error && ['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT'].includes(String(error.code))
  return isUnreachable
    ? `Cannot connect to PostgreSQL (${String(error)}).\nRun: petstore doctor`
    : error.message
}

function causeOf({ cause }: AppError): string {
  return cause instanceof Error && cause.message !== '' ? `Cause: ${cause.message}\n` : ''
}
