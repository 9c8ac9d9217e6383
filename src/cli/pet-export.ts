// `petstore pets export`: writes the pets that match a filter, which a running service sends. export.ts writes all pets of
// a database.
import { type Command, Option } from 'commander'
import { EXPORT_FORMATS, EXPORT_PETS_MAX, type ExportFormat } from '../store/pet-export/format.ts'
import { count, countOf } from '../values/count-text.ts'
import { addPetFilters, type PetFilterOptions, petQuery } from './pet-filters.ts'
import { parseInteger } from './terminal/arguments.ts'
import { addRemoteOptions, callService, type RemoteOptions } from './terminal/remote.ts'
import { printPart, say } from './terminal/terminal.ts'

interface Options extends RemoteOptions, PetFilterOptions {
  format: ExportFormat
  profiles?: true
  limit: number
}

export function addPetExport(pets: Command): void {
  const command = pets
    .command('export')
    .description('write pets to standard output as CSV or as lines of JSON, in the order of `pets list`')
    .addOption(
      new Option('--format <format>', 'output format; `petstore import` can read only csv')
        .choices(EXPORT_FORMATS)
        .default('csv'),
    )
    .option('--profiles', 'also write the price of each pet and the facts about it')
    .option('--limit <count>', 'max number of pets', parseInteger(1, EXPORT_PETS_MAX), EXPORT_PETS_MAX)
  addPetFilters(command)
  command.action((options: Options) =>
    callService(options, async ({ store, call, stopWaiting }) => {
      const { format, limit, profiles } = options
      const include = profiles && (['profile'] as const)
      const file = store.pets.export({ format, limit, include, ...petQuery(options) }, call)
      for await (const bytes of file) {
        stopWaiting()
        await printPart(bytes)
      }
      say(`${countOf(file.petCount, 'pet')} exported.`)
      if (file.petCount === limit)
        say(
          `More pets can match than the limit of ${count(limit)}. To write all pets of the database, run: petstore export`,
        )
    }),
  )
  addRemoteOptions(
    command,
    [
      'petstore pets export --status available > available.csv',
      'petstore pets export --category 1 --profiles > dogs.csv',
      'petstore pets export --format ndjson | gzip > pets.ndjson.gz',
    ],
    { json: false, timeout: 'max time to wait for the first bytes, including retries' },
  )
}
