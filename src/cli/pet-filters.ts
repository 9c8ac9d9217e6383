// The options of `petstore pets list` and `petstore pets export` that select and sort pets.
import { type Command, Option } from 'commander'
import { LIST_PETS } from '../../client/src/rules.ts'
import { FILTER_ENTRIES, type FilterName, type PetFilters, FILTERS } from '../store/pets/filters.ts'
import { parseIdArgument } from './terminal/arguments.ts'

export interface PetFilterOptions {
  name?: string
  word?: string
  sort?: 'name'
}

function filterOption(filter: FilterName): Option {
  const { option, text, schema } = FILTERS[filter]
  const made = new Option(option, `only pets ${text}`)
  if (schema.enum !== undefined) return made.choices(schema.enum)
  return schema.format === 'int64' ? made.argParser(parseIdArgument) : made
}

export function addPetFilters(command: Command, { canSort } = { canSort: true }): void {
  for (const [name] of FILTER_ENTRIES) command.addOption(filterOption(name))
  command
    .addOption(
      new Option(
        '--name <text>',
        'only pets whose name starts with this text, ignoring case; cannot be combined with --category',
      ).conflicts(['category']),
    )
    .addOption(
      new Option(
        '--word <text>',
        'only pets whose name has a word that starts with this text, ignoring case; cannot be combined with --name',
      ).conflicts(['name']),
    )
  if (!canSort) return
  command.addOption(
    new Option('--sort <field>', 'sort the pets by name; cannot be combined with --category or --word')
      .choices(LIST_PETS.sort.enum)
      .conflicts(['category', 'word']),
  )
}

/** The parameters of the operation. */
export function petQuery({ name, word, sort, ...options }: PetFilterOptions) {
  const given = options as Record<string, unknown>
  const filters = FILTER_ENTRIES.map(([filter]) => [filter, given[filterOption(filter).attributeName()]])
  return { ...(Object.fromEntries(filters) as PetFilters), name, word, sort }
}
