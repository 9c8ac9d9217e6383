// `petstore categories`: calls a running service to list and name categories.
import { type Command, Option } from 'commander'
import type { Category } from '../../client/src/petstore.ts'
import { CATEGORY_NAME } from '../../client/src/rules.ts'
import { lengthText, parseIdArgument, requireArguments } from './terminal/arguments.ts'
import {
  addListOptions,
  type Columns,
  type ListOptions,
  pageSize,
  printList,
  toJson,
} from './terminal/output.ts'
import { addRemoteOptions, callService, LIST_HELP, type RemoteOptions } from './terminal/remote.ts'
import { print, say, visible } from './terminal/terminal.ts'

const PICTURES = CATEGORY_NAME.picture.enum.filter((picture) => picture !== null)
const NO_PICTURE = 'none'
const COUNT_HEADINGS = ['AVAILABLE', 'PENDING', 'SOLD'] as const

const COLUMNS: Columns<Category> = {
  headings: ['ID', ...COUNT_HEADINGS, 'NAME'],
  toRow: ({ id, counts, name }) => [
    id,
    ...[counts.available, counts.pending, counts.sold].map((count, index) =>
      String(count).padStart(COUNT_HEADINGS[index]?.length ?? 0),
    ),
    name ?? '-',
  ],
}

interface PutOptions extends RemoteOptions {
  name?: string
  picture?: string
}

export function addCategories(program: Command): void {
  const categories = program
    .command('categories')
    .description('list categories and set their names')
    .addHelpText('after', '\nThe API key needs the scope pets:read for list, and pets:write for put.')

  const list = categories
    .command('list')
    .description(
      'list the categories that have a name or pets, sorted by id, with the number of pets in each status',
    )
    .action((options: ListOptions) =>
      callService(options, async (remote) => {
        const all = remote.store.categories.list({ limit: pageSize(options) }, remote.call)
        await printList(all, options, COLUMNS, remote)
      }),
    )
  addListOptions(list)
  addRemoteOptions(list, ['petstore categories list', 'petstore categories list --all --json'], LIST_HELP)

  const put = categories
    .command('put')
    .usage('<id> --name <text> [options]')
    .description('set the name and the picture of a category')
    .argument('[id]', 'id of the category', parseIdArgument)
    .option('--name <text>', `name of the category, ${lengthText(CATEGORY_NAME.name)} (required)`)
    .addOption(
      new Option('--picture <name>', 'drawing that the console shows; needs the scope admin').choices([
        ...PICTURES,
        NO_PICTURE,
      ]),
    )
    .action((idArgument: bigint | undefined, options: PutOptions) => {
      const required = requireArguments(put, { '<id>': idArgument, '--name <text>': options.name })
      const { '<id>': id, '--name <text>': name } = required
      const picture =
        options.picture === NO_PICTURE ? null : PICTURES.find((each) => each === options.picture)
      return callService(options, async ({ store, call }) => {
        const category = await store.categories.put(id, { name, picture }, call)
        if (options.json) return print(toJson(category))
        say(`Category ${category.id}: ${visible(category.name ?? '')}`)
      })
    })
  addRemoteOptions(put, ['petstore categories put 7 --name Reptiles --picture reptile'])
}
