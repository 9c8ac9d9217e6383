// The options of `petstore pets list` and `petstore pets export` that select and sort pets.
import { type Command, Option } from 'commander'
import { LIST_PETS } from '../../client/src/rules.ts'
import { PET_STATUSES, type PetStatus } from '../contract/pet-status.ts'
import { parseIdArgument } from './terminal/arguments.ts'

export interface PetFilterOptions {
  status?: PetStatus
  category?: bigint
  name?: string
  word?: string
  sort?: 'name'
}

export function addPetFilters(command: Command): void {
  command
    .addOption(new Option('--status <status>', 'only pets with this status').choices(PET_STATUSES))
    .option('--category <id>', 'only pets in this category', parseIdArgument)
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
    .addOption(
      new Option('--sort <field>', 'sort the pets by name; cannot be combined with --category or --word')
        .choices(LIST_PETS.sort.enum)
        .conflicts(['category', 'word']),
    )
}

/** The parameters of the operation. */
export function petQuery({ status, category, name, word, sort }: PetFilterOptions) {
  return { status, categoryId: category, name, word, sort }
}
