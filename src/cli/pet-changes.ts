// `petstore pets change`: sends many changes from a file to a running service.
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { PetChangeItem, PetChangeResult } from '../../client/src/petstore.ts'
import { PET_CHANGES } from '../../client/src/rules.ts'
import { fileFault } from '../values/file-fault.ts'
import { parseJson } from '../values/json.ts'
import { EXIT_FAILED } from './terminal/exit-codes.ts'
import { type Columns, printItems } from './terminal/output.ts'
import {
  addIdempotencyKey,
  addRemoteOptions,
  callService,
  type RemoteOptions,
  withIdempotencyKey,
} from './terminal/remote.ts'
import { CommandError, say } from './terminal/terminal.ts'

const CHANGES_PER_REQUEST_MAX = PET_CHANGES.changes.maxItems

/** A change, or its result, with its line in the file. */
type Numbered<Value> = Value & { line: number }

const COLUMNS: Columns<Numbered<PetChangeResult>> = {
  headings: ['LINE', 'STATUS', 'ID', 'ERROR'],
  toRow: ({ line, status, pet, error }) => [
    String(line),
    String(status),
    pet?.id ?? '-',
    error === undefined
      ? '-'
      : [error.message, ...(error.details ?? []).map(({ message }) => message)].join(' '),
  ],
}

export function addChange(pets: Command): void {
  const change = pets
    .command('change')
    .description('create, update and delete many pets, and show the result of each change')
    .argument('<file>', 'file with one change in each line, as JSON')
    .action((file: string, parsed: RemoteOptions) => {
      const changes = readChanges(change, file)
      const options = withIdempotencyKey(parsed)
      return callService(options, async ({ store, call, restartWaiting }) => {
        const results: Numbered<PetChangeResult>[] = []
        for (let from = 0; from < changes.length; from += CHANGES_PER_REQUEST_MAX) {
          const part = changes.slice(from, from + CHANGES_PER_REQUEST_MAX)
          const items = part.map(({ line: _line, ...item }) => item)
          // A retry of the command with the same file and key sends each request with the same key again.
          const idempotencyKey = from === 0 ? options.idempotencyKey : `${options.idempotencyKey}/${from}`
          const made = await store.pets.changeMany(items, { ...call, idempotencyKey })
          results.push(...made.map((result, index) => ({ line: part[index]?.line ?? 0, ...result })))
          restartWaiting()
        }
        await printItems(results, options.json ?? false, COLUMNS)
        const failed = results.filter(({ error }) => error !== undefined).length
        say(`Made ${results.length - failed} of ${results.length} changes.`)
        if (failed > 0) process.exitCode = EXIT_FAILED
      })
    })
  addIdempotencyKey(change, 'pet')
  addRemoteOptions(
    change,
    [
      `echo '{"create": {"name": "Biscuit", "categoryId": 1}}' >> changes.ndjson`,
      `echo '{"update": {"petId": 42, "status": "sold"}}' >> changes.ndjson`,
      `echo '{"delete": {"petId": 43}}' >> changes.ndjson`,
      'petstore pets change changes.ndjson --idempotency-key delivery-17',
    ],
    {
      json: 'print a JSON array of results; ids keep every digit',
      timeout: `max time for each ${CHANGES_PER_REQUEST_MAX} changes, including retries`,
    },
  )
}

function readChanges(command: Command, file: string): Numbered<PetChangeItem>[] {
  return readText(file)
    .split('\n')
    .flatMap((text, index) => {
      if (text.trim() === '') return []
      try {
        const parsed = parseJson(text)
        if (typeof parsed === 'object' && parsed !== null) return [{ ...parsed, line: index + 1 }]
      } catch {
        // The next statement reports it.
      }
      return command.error(`error: line ${index + 1} of ${file} is not a JSON object`)
    })
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError(fileFault(file, error))
  }
}
