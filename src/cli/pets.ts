// `petstore pets`: calls a running service to list, show, add, change and delete pets. pet-profiles.ts has their profiles.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { HistoryEntry, NewPetProfile, Pet, PetStatus } from '../../client/src/petstore.ts'
import { LIST_PETS, NEW_PET, PET_CHANGE } from '../../client/src/rules.ts'
import type { IncludeWord } from '../store/pets/included.ts'
import { PET_STATUSES } from '../contract/pet-status.ts'
import { PROFILE_FIELD_NAMES, WRITABLE_NAMES } from '../contract/profile-fields.ts'
import { addChange } from './pet-changes.ts'
import { addPetExport } from './pet-export.ts'
import { addPetFilters, type PetFilterOptions, petQuery } from './pet-filters.ts'
import { addProfiles, factOption, givenProfile } from './pet-profiles.ts'
import {
  collectIds,
  lengthText,
  parseEtagOf,
  parseIdArgument,
  requireArguments,
} from './terminal/arguments.ts'
import { EXIT_FAILED } from './terminal/exit-codes.ts'
import {
  addListOptions,
  type Columns,
  type ListOptions,
  pageSize,
  printItems,
  printList,
  toJson,
} from './terminal/output.ts'
import {
  addIdempotencyKey,
  addRemoteOptions,
  callService,
  LIST_HELP,
  type RemoteOptions,
  withIdempotencyKey,
} from './terminal/remote.ts'
import { localTime, print, say, type Style, visible } from './terminal/terminal.ts'

const IDS_PER_REQUEST_MAX = LIST_PETS.id.maxItems
const STATUS_STYLES: Record<PetStatus, Style> = { available: 'green', pending: 'yellow', sold: 'dim' }

const COLUMNS: Columns<Pet> = {
  // The name is last because its length varies most.
  headings: ['ID', 'STATUS', 'CATEGORY', 'NAME'],
  toRow: ({ id, status, categoryId, name }) => [
    id,
    { text: status, style: STATUS_STYLES[status] },
    categoryId,
    name,
  ],
}

const HISTORY_COLUMNS: Columns<HistoryEntry> = {
  headings: ['AT', 'EVENT', 'BY', 'CHANGE', 'REASON'],
  toRow: ({ at, event, actor, from, to, reason }) => [
    localTime(at),
    event,
    actor,
    describeChange(from, to),
    reason ?? '-',
  ],
}

const CHANGEABLE = [
  'status',
  'name',
  'categoryId',
  ...PROFILE_FIELD_NAMES,
] as const satisfies (keyof NonNullable<HistoryEntry['to']>)[]

interface AddOptions extends RemoteOptions, NewPetProfile {
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
    .description(
      'list, get, add, update, delete and export pets, their profiles, and show the history of a pet',
    )
    .addHelpText(
      'after',
      '\nThe API key needs the scope pets:read for list, get, export, history, profile and profiles, and pets:write for the other commands.',
    )

  addList(pets)
  const get = pets
    .command('get')
    .description('show the pets with the given ids, in the given order')
    .argument('<id...>', 'ids of the pets, separated by spaces', collectIds)
    .addOption(includeOption())
    .action((ids: bigint[], options: RemoteOptions & IncludeOptions) => {
      requireJson(get, options)
      return showPets(ids, options)
    })
  addRemoteOptions(get, ['petstore pets get 42', 'petstore pets get 42 43 --json'], { json: LIST_HELP.json })

  addCount(pets)
  addAdd(pets)
  addPut(pets)
  addUpdate(pets)
  addDelete(pets)
  addChange(pets)
  addPetExport(pets)
  addHistory(pets)
  addProfiles(pets)
}

function addList(pets: Command): void {
  const list = pets
    .command('list')
    .description('list pets, newest first or, with --name or --sort, sorted by name')
  addPetFilters(list)
  list.addOption(includeOption())
  list.action((options: ListOptions & PetFilterOptions & IncludeOptions) => {
    requireJson(list, options)
    return callService(options, async (remote) => {
      const query = { ...petQuery(options), include: options.include, limit: pageSize(options) }
      await printList(remote.store.pets.list(query, remote.call), options, COLUMNS, remote)
    })
  })
  addListOptions(list)
  addRemoteOptions(
    list,
    [
      'petstore pets list --status available --category 2',
      'petstore pets list --name bis --status available',
      'petstore pets list --word whippet --category 1',
      'petstore pets list --all --json > pets.json',
      'petstore pets list --category 1 --include profile,times --json',
    ],
    LIST_HELP,
  )
}

function addCount(pets: Command): void {
  const count = pets.command('count').description('count pets; above 10,000, "at least" precedes the number')
  addPetFilters(count, { canSort: false })
  count.action((options: RemoteOptions & PetFilterOptions) =>
    callService(options, async ({ store, call }) => {
      const { sort: _sort, ...query } = petQuery(options)
      const found = await store.pets.count(query, call)
      if (options.json) return print(toJson(found))
      print(found.more ? `at least ${found.count}` : String(found.count))
    }),
  )
  addRemoteOptions(count, ['petstore pets count --status available --category 2'])
}

function addAdd(pets: Command): void {
  const add = pets
    .command('add')
    .usage('<name> --category <id> [options]')
    .description('add a pet and print its id')
    .argument('[name]', `name of the pet, ${lengthText(NEW_PET.name)}`)
    .option('--category <id>', 'id of the category of the pet (required)', parseIdArgument)
    .addOption(
      new Option('--status <status>', 'status of the pet; available if not set').choices(PET_STATUSES),
    )
  for (const name of WRITABLE_NAMES) add.addOption(factOption(name))
  add.action((name: string | undefined, parsed: AddOptions) => {
    const required = requireArguments(add, { '<name>': name, '--category <id>': parsed.category })
    const pet = {
      name: required['<name>'],
      categoryId: required['--category <id>'],
      status: parsed.status,
      profile: givenProfile(parsed),
    }
    const options = withIdempotencyKey(parsed)
    return callService(options, async ({ store, call }) => {
      const { idempotencyKey } = options
      const { etag: _etag, ...added } = await store.pets.create(pet, { ...call, idempotencyKey })
      if (options.json) return print(toJson(added))
      say(`Added ${visible(added.name)}, ${added.status}, to category ${added.categoryId}. Its id:`)
      print(added.id)
    })
  })
  addIdempotencyKey(add, 'pet')
  addRemoteOptions(add, [
    'petstore pets add Biscuit --category 1 --price 129.00 --breed Beagle',
    'petstore pets add "Rex, the great" --category 2 --status pending --idempotency-key delivery-17/3',
  ])
}

function addPut(pets: Command): void {
  const put = pets
    .command('put')
    .usage('<reference> --name <text> --category <id> [options]')
    .description(
      'add the pet with this reference, or change its name, category and the given facts, and show it; safe to repeat',
    )
    .argument('[reference]', "the shop's own id of the pet")
    .option('--name <text>', `name of the pet, ${lengthText(NEW_PET.name)} (required)`)
    .option('--category <id>', 'id of the category of the pet (required)', parseIdArgument)
    .addOption(
      new Option('--status <status>', 'status of a new pet; available if not set').choices(PET_STATUSES),
    )
  for (const name of WRITABLE_NAMES) if (name !== 'reference') put.addOption(factOption(name))
  put.action((reference: string | undefined, options: AddOptions & { name?: string }) => {
    const required = requireArguments(put, {
      '<reference>': reference,
      '--name <text>': options.name,
      '--category <id>': options.category,
    })
    const pet = {
      name: required['--name <text>'],
      categoryId: required['--category <id>'],
      status: options.status,
      profile: givenProfile(options),
    }
    return callService(options, async ({ store, call }) => {
      const { etag: _etag, ...stored } = await store.pets.put(required['<reference>'], pet, call)
      if (options.json) return print(toJson(stored))
      await printItems([stored], false, COLUMNS)
    })
  })
  addRemoteOptions(put, ['petstore pets put SKU-4711 --name Biscuit --category 1 --price 129.00'])
}

function addUpdate(pets: Command): void {
  const update = pets
    .command('update')
    .description('change the name, category or status of a pet, and show the pet')
    .argument('<id>', 'id of the pet', parseIdArgument)
    .option('--name <text>', `new name, ${lengthText(PET_CHANGE.name)}`)
    .option('--category <id>', 'id of the new category', parseIdArgument)
    .addOption(new Option('--status <status>', 'new status').choices(PET_STATUSES))
    .option('--reason <text>', 'reason for the change, stored in the history of the pet')
    .option(
      '--if-match <etag>',
      'change the pet only if it still has this ETag, which an earlier `petstore pets update` printed',
      parseEtagOf('petstore pets update'),
    )
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
    .description('delete a pet that was added by mistake; a pet that ever had an order cannot be deleted')
    .argument('<id>', 'id of the pet', parseIdArgument)
    .option(
      '--if-match <etag>',
      'delete the pet only if it still has this ETag, which `petstore pets update` prints',
      parseEtagOf('petstore pets update'),
    )
    .action((id: bigint, options: UpdateOptions) =>
      callService(options, async ({ store, call }) => {
        await store.pets.delete(id, { ...call, ifMatch: options.ifMatch })
        // The response has no body, so there is no JSON to print.
        if (!options.json) say(`Deleted pet ${id}.`)
      }),
    )
  addRemoteOptions(remove, ['petstore pets delete 42'], { json: 'print no message on success' })
}

function addHistory(pets: Command): void {
  const history = pets
    .command('history')
    .description('list the changes to a pet, newest first; the table shows times in your time zone')
    .argument('<id>', 'id of the pet', parseIdArgument)
    .action((id: bigint, options: ListOptions) =>
      callService(options, async (remote) => {
        const list = remote.store.pets.history(id, { limit: pageSize(options) }, remote.call)
        await printList(list, options, HISTORY_COLUMNS, remote)
      }),
    )
  addListOptions(history)
  addRemoteOptions(history, ['petstore pets history 42', 'petstore pets history 42 --all --json'], LIST_HELP)
}

interface IncludeOptions {
  include?: IncludeWord[]
}

function includeOption(): Option {
  const known = LIST_PETS.include.items.enum
  return new Option(
    '--include <words>',
    `what to add to each pet, separated by commas: ${known.join(', ')}; needs --json`,
  ).argParser((text) => {
    const words = text.split(',')
    const unknown = words.find((word) => !known.some((one) => one === word))
    if (unknown === undefined) return words as IncludeWord[]
    throw new InvalidArgumentError(`Allowed choices are ${known.join(', ')}.`)
  })
}

/** The table has no columns for them. */
function requireJson(command: Command, { include, json }: IncludeOptions & RemoteOptions): void {
  if (include !== undefined && !json) command.error('error: --include needs --json')
}

/** Uses listPets, because getPet is deprecated. */
function showPets(ids: readonly bigint[], options: RemoteOptions & IncludeOptions): Promise<void> {
  return callService(options, async ({ store, call }) => {
    const found = new Map<string, Pet>()
    for (let from = 0; from < ids.length; from += IDS_PER_REQUEST_MAX) {
      const { items } = await store.pets
        .list({ id: ids.slice(from, from + IDS_PER_REQUEST_MAX), include: options.include }, call)
        .page()
      for (const pet of items) found.set(pet.id, pet)
    }
    const pets = ids.flatMap((id) => found.get(String(id)) ?? [])
    if (options.json || pets.length > 0) await printItems(pets, options.json ?? false, COLUMNS)
    for (const id of ids.filter((requested) => !found.has(String(requested)))) {
      say(`No pet has the id ${id}.`)
      process.exitCode = EXIT_FAILED
    }
  })
}

function describeChange(from: HistoryEntry['from'] = {}, to: HistoryEntry['to'] = {}): string {
  const changes = CHANGEABLE.filter((field) => from[field] !== undefined || to[field] !== undefined).map(
    (field) => `${field} ${from[field] ?? '-'} -> ${to[field] ?? '-'}`,
  )
  return changes.join(', ') || '-'
}
