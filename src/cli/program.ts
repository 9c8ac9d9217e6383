// The executable's verbs, and how a command ends when it cannot do its work.
import { Command } from 'commander'
import { ConfigError } from '../config.ts'
import { AppError } from '../errors.ts'
import { VERSION } from '../version.ts'
import { addApiKeys } from './api-keys.ts'
import { addCategories } from './categories.ts'
import { addDoctor } from './doctor.ts'
import { EXIT_FAILED } from './exit-codes.ts'
import { addExport } from './export.ts'
import { addImport } from './import.ts'
import { addInventory } from './inventory.ts'
import { addMigrate } from './migrate.ts'
import { addOrders } from './orders.ts'
import { addPets } from './pets.ts'
import { addServe, StartFailure } from './serve.ts'
import { paint, say } from './terminal.ts'

export function buildProgram(): Command {
  const program = new Command('petstore')
    .description('The catalogue of a pet store over HTTP and JSON, on PostgreSQL.')
    .version(VERSION, '-V, --version', 'print the version')
    .showHelpAfterError('(add --help for what it takes)')
    .addHelpText(
      'after',
      `
Examples:
  petstore migrate                            bring the database up to date
  petstore api-keys create --name web-shop    make a key and print it
  petstore serve                              answer requests on port 3000
  petstore import animals.csv                 add the animals of a file
  petstore doctor                             say what is wrong and what to do
  petstore pets list --status available       list the animals for sale

Whoever runs the service configures it by the environment, DATABASE_URL first: docs/configuration.md.
Whoever uses it needs PETSTORE_URL and PETSTORE_API_KEY alone: docs/command-line.md.`,
    )
    .commandsGroup('Run the service:')
  addServe(program)
  addMigrate(program)
  addApiKeys(program)
  addImport(program)
  addExport(program)
  addDoctor(program)
  program.commandsGroup('Use a running service:')
  addPets(program)
  addCategories(program)
  addOrders(program)
  addInventory(program)
  return program
}

/** Runs a command line; whatever stops it becomes one clear line and an exit code. */
export async function runProgram(commandLine: readonly string[]): Promise<void> {
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
  if (error instanceof AppError) return `${error.message}\n${causeOf(error)}Try: petstore doctor`
  if (!(error instanceof Error)) return String(error)
  const rejected = 'code' in error && ['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT'].includes(String(error.code))
  return rejected ? `PostgreSQL does not answer (${String(error)}).\nTry: petstore doctor` : error.message
}

function causeOf({ cause }: AppError): string {
  return cause instanceof Error && cause.message !== '' ? `The cause: ${cause.message}\n` : ''
}
