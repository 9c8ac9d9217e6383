// `petstore pets`: list, find and add animals of a running service.
import { type Command, Option } from 'commander'
import type { Pet, PetStatus } from '../../client/src/petstore.ts'
import {
  addListOptions,
  type Columns,
  type ListOptions,
  pageSize,
  printItems,
  printList,
  toJson,
} from './answers.ts'
import {
  addIdempotencyKey,
  addRemoteOptions,
  callService,
  parseAnyId,
  type RemoteOptions,
  withIdempotencyKey,
} from './remote.ts'
import { print, say, type Style, visible } from './terminal.ts'

/** The most ids that the service takes at once. */
const IDS_AT_ONCE_MAX = 100
const STATUS_STYLES: Record<PetStatus, Style> = { available: 'green', pending: 'yellow', sold: 'dim' }
const STATUSES = Object.keys(STATUS_STYLES)

const COLUMNS: Columns<Pet> = {
  // Whatever is longest stands last.
  heads: ['ID', 'STATUS', 'CATEGORY', 'NAME'],
  toRow: ({ id, status, categoryId, name }) => [
    id,
    { text: status, style: STATUS_STYLES[status] },
    categoryId,
    name,
  ],
}

interface PetListOptions extends ListOptions {
  status?: PetStatus
  category?: bigint
  name?: string
}

interface AddOptions extends RemoteOptions {
  category: bigint
  status?: PetStatus
}

export function addPets(program: Command): void {
  const pets = program
    .command('pets')
    .description('list, find and add animals of a running service')
    .addHelpText('after', '\nlist and get need a key with pets:read, add one with pets:write.')

  const list = pets
    .command('list')
    .description('list animals, newest first')
    .addOption(new Option('--status <status>', 'only animals with this status').choices(STATUSES))
    .option('--category <id>', 'only animals of this category', parseAnyId)
    .addOption(
      new Option('--name <text>', 'only animals whose name begins so, sorted by name').conflicts([
        'status',
        'category',
      ]),
    )
    .action((options: PetListOptions) =>
      callService(options, async (remote) => {
        const { status, category, name } = options
        const query = { status, categoryId: category, name, limit: pageSize(options) }
        await printList(remote.store.pets.list(query, remote.call), options, COLUMNS, remote)
      }),
    )
  addListOptions(list)
  addRemoteOptions(list, [
    'petstore pets list --status available --category 2',
    'petstore pets list --name bis',
    'petstore pets list --all --json > animals.json',
  ])

  const get = pets
    .command('get')
    .description('show animals by their ids, in the sequence given')
    .argument('<id...>', 'one or more ids', collectIds)
    .action((ids: bigint[], options: RemoteOptions) => showPets(ids, options))
  addRemoteOptions(get, ['petstore pets get 42', 'petstore pets get 42 43 --json'])

  const add = pets
    .command('add')
    .description('add an animal and print its id, alone, on standard output')
    .argument('<name>', 'its name, 1 to 500 characters')
    .requiredOption('--category <id>', 'the category that it belongs to', parseAnyId)
    .addOption(new Option('--status <status>', 'available unless given').choices(STATUSES))
    .action((name: string, given: AddOptions) => {
      const options = withIdempotencyKey(given)
      return callService(options, async ({ store, call }) => {
        const { category, status, idempotencyKey } = options
        const { etag: _etag, ...pet } = await store.pets.create(
          { name, categoryId: category, status },
          { ...call, idempotencyKey },
        )
        if (options.json) return print(toJson(pet))
        say(`Added ${visible(pet.name)}, ${pet.status}, to category ${pet.categoryId}. Its id:`)
        print(pet.id)
      })
    })
  addIdempotencyKey(add, 'adds no second animal')
  addRemoteOptions(add, [
    'petstore pets add Biscuit --category 1',
    'petstore pets add "Rex, the great" --category 2 --status pending --idempotency-key delivery-17/3',
  ])
}

/** By the list, since the operation that reads one animal will be removed. */
function showPets(ids: readonly bigint[], options: RemoteOptions): Promise<void> {
  return callService(options, async ({ store, call }) => {
    const found = new Map<string, Pet>()
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE_MAX) {
      const { items } = await store.pets.list({ id: ids.slice(from, from + IDS_AT_ONCE_MAX) }, call).page()
      for (const pet of items) found.set(pet.id, pet)
    }
    const pets = ids.flatMap((id) => found.get(String(id)) ?? [])
    if (options.json || pets.length > 0) await printItems(pets, options.json ?? false, COLUMNS)
    for (const id of ids.filter((unknown) => !found.has(String(unknown)))) {
      say(`No animal has the id ${id}.`)
      process.exitCode = 1
    }
  })
}

/** Each once, however often it was given. */
function collectIds(text: string, before: bigint[] = []): bigint[] {
  const id = parseAnyId(text)
  return before.includes(id) ? before : [...before, id]
}
