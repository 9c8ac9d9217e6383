// `petstore pets`: list, find, add, change and delete pets of a running service.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { HistoryEntry, Pet, PetStatus } from '../../client/src/petstore.ts'
import {
  addListOptions,
  type Columns,
  type ListOptions,
  pageSize,
  printItems,
  printList,
  toJson,
} from './output.ts'
import { parseIdArgument, requireGiven } from './arguments.ts'
import { EXIT_FAILED } from './exit-codes.ts'
import {
  addIdempotencyKey,
  addRemoteOptions,
  callService,
  type RemoteOptions,
  withIdempotencyKey,
} from './remote.ts'
import { localTime, print, say, type Style, visible } from './terminal.ts'

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

const HISTORY_COLUMNS: Columns<HistoryEntry> = {
  heads: ['AT', 'EVENT', 'BY', 'CHANGE', 'REASON'],
  toRow: ({ at, event, apiKeyName, from, to, reason }) => [
    localTime(at),
    event,
    apiKeyName,
    describeChange(from, to),
    reason ?? '-',
  ],
}

interface PetListOptions extends ListOptions {
  status?: PetStatus
  category?: bigint
  name?: string
}

interface AddOptions extends RemoteOptions {
  category?: bigint
  status?: PetStatus
}

interface UpdateOptions extends RemoteOptions {
  name?: string
  category?: bigint
  status?: PetStatus
  reason?: string
  ifMatch?: string
}

export function addPets(program: Command): void {
  const pets = program
    .command('pets')
    .description('list, find, add, change and delete pets of a running service')
    .addHelpText(
      'after',
      '\nlist, get and history need a key with pets:read, the others one with pets:write.',
    )

  const list = pets
    .command('list')
    .description('list animals, newest first')
    .addOption(new Option('--status <status>', 'only animals with this status').choices(STATUSES))
    .option('--category <id>', 'only animals of this category', parseIdArgument)
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

  addAdd(pets)
  addUpdate(pets)
  addDelete(pets)
  addHistory(pets)
}

function addAdd(pets: Command): void {
  const add = pets
    .command('add')
    .usage('<name> --category <id> [options]')
    .description('add an animal and print its id, alone, on standard output')
    .argument('[name]', 'its name, 1 to 500 characters')
    .option('--category <id>', 'the category that it belongs to', parseIdArgument)
    .addOption(new Option('--status <status>', 'available unless given').choices(STATUSES))
    .action((name: string | undefined, given: AddOptions) => {
      const required = requireGiven(add, { '<name>': name, '--category <id>': given.category })
      const pet = { name: required['<name>'], categoryId: required['--category <id>'], status: given.status }
      const options = withIdempotencyKey(given)
      return callService(options, async ({ store, call }) => {
        const { idempotencyKey } = options
        const { etag: _etag, ...added } = await store.pets.create(pet, { ...call, idempotencyKey })
        if (options.json) return print(toJson(added))
        say(`Added ${visible(added.name)}, ${added.status}, to category ${added.categoryId}. Its id:`)
        print(added.id)
      })
    })
  addIdempotencyKey(add, 'adds no second animal')
  addRemoteOptions(add, [
    'petstore pets add Biscuit --category 1',
    'petstore pets add "Rex, the great" --category 2 --status pending --idempotency-key delivery-17/3',
  ])
}

function addUpdate(pets: Command): void {
  const update = pets
    .command('update')
    .description('change what is given of a pet, and show the result')
    .argument('<id>', 'the id of the pet', parseIdArgument)
    .option('--name <text>', 'its new name, 1 to 500 characters')
    .option('--category <id>', 'the category that it belongs to from now on', parseIdArgument)
    .addOption(new Option('--status <status>', 'its new status').choices(STATUSES))
    .option('--reason <text>', 'why, for the history')
    .option('--if-match <etag>', 'change nothing if the pet has another ETag by now', parseEtag)
    .action((id: bigint, options: UpdateOptions) => {
      const { name, category: categoryId, status, reason, ifMatch } = options
      if (name === undefined && categoryId === undefined && status === undefined) {
        update.error('error: give at least one of --name, --category and --status')
      }
      return callService(
        { ...options, checkWith: `petstore pets history ${id}` },
        async ({ store, call }) => {
          const change = { name, categoryId, status, reason }
          const { etag, ...pet } = await store.pets.update(id, change, { ...call, ifMatch })
          if (options.json) return print(toJson(pet))
          await printItems([pet], false, COLUMNS)
          say(`Updated pet ${pet.id}. Its ETag: ${visible(etag)}`)
        },
      )
    })
  addRemoteOptions(update, [
    'petstore pets update 42 --status sold --reason "walk-in"',
    'petstore pets update 42 --name Biscuit --if-match 3',
  ])
}

function addDelete(pets: Command): void {
  const remove = pets
    .command('delete')
    .description('delete a pet that was added by mistake and never had an order')
    .argument('<id>', 'the id of the pet', parseIdArgument)
    .option('--if-match <etag>', 'delete nothing if the pet has another ETag by now', parseEtag)
    .action((id: bigint, options: UpdateOptions) =>
      callService(options, async ({ store, call }) => {
        await store.pets.delete(id, { ...call, ifMatch: options.ifMatch })
        // The response has no body, so that there is no JSON to print.
        if (!options.json) say(`Deleted pet ${id}.`)
      }),
    )
  addRemoteOptions(remove, ['petstore pets delete 42'])
}

function addHistory(pets: Command): void {
  const history = pets
    .command('history')
    .description('show what happened to a pet, newest first; times are of your time zone')
    .argument('<id>', 'the id of the pet', parseIdArgument)
    .action((id: bigint, options: ListOptions) =>
      callService(options, async (remote) => {
        const list = remote.store.pets.history(id, { limit: pageSize(options) }, remote.call)
        await printList(list, options, HISTORY_COLUMNS, remote)
      }),
    )
  addListOptions(history)
  addRemoteOptions(history, ['petstore pets history 42', 'petstore pets history 42 --all --json'])
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
      process.exitCode = EXIT_FAILED
    }
  })
}

function describeChange(from: HistoryEntry['from'] = {}, to: HistoryEntry['to'] = {}): string {
  const fields = ['status', 'name', 'categoryId'] as const
  const changes = fields
    .filter((field) => to[field] !== undefined)
    .map((field) => `${field} ${from[field] ?? '-'} -> ${to[field]}`)
  return changes.join(', ') || '-'
}

/** As printed by `pets update`, also without the quotes, which a shell would take away. */
function parseEtag(text: string): string {
  const [, version] = /^"?([0-9]{1,19})"?$/.exec(text) ?? []
  if (version !== undefined) return `"${version}"`
  throw new InvalidArgumentError('Give the ETag that `petstore pets update` printed.')
}

/** Each once, however often it was given. */
function collectIds(text: string, before: bigint[] = []): bigint[] {
  const id = parseIdArgument(text)
  return before.includes(id) ? before : [...before, id]
}
