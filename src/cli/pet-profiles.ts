// `petstore pets profile`, `set-profile` and `profiles`: call a running service to show and replace the price of pets and
// facts about them.
import { type Command, Option } from 'commander'
import type { NewPetProfile, PetProfile } from '../../client/src/petstore.ts'
import { LIST_PET_PROFILES, NEW_PET_PROFILE } from '../../client/src/rules.ts'
import { columnOf, WRITABLE_NAMES } from '../contract/profile-fields.ts'
import { FACT_COLUMNS, type FactName, FACTS } from './facts.ts'
import { collectIds, parseEtagOf, parseIdArgument } from './terminal/arguments.ts'
import { type Columns, printItems, toJson } from './terminal/output.ts'
import { addRemoteOptions, callService, LIST_HELP, type RemoteOptions } from './terminal/remote.ts'
import { print, say, visible } from './terminal/terminal.ts'

const COLUMNS: Columns<PetProfile> = {
  headings: ['PET', ...FACT_COLUMNS.map((name) => FACTS[name].heading ?? name.toUpperCase())],
  toRow: (profile) => [profile.petId, ...FACT_COLUMNS.map((name) => factText(profile, name) ?? '-')],
}

interface SetOptions extends RemoteOptions, NewPetProfile {
  ifMatch?: string
}

interface ListProfilesOptions extends RemoteOptions {
  chipNumber?: string
}

export function addProfiles(pets: Command): void {
  const show = pets
    .command('profile')
    .description('show the price of a pet and facts about it')
    .argument('<id>', 'id of the pet', parseIdArgument)
    .action((id: bigint, options: RemoteOptions) =>
      callService(options, async ({ store, call }) => {
        await printProfile(await store.pets.profile(id, call), options)
      }),
    )
  addRemoteOptions(show, ['petstore pets profile 42', 'petstore pets profile 42 --json'])

  addSetProfile(pets)

  const list = pets
    .command('profiles')
    .description('list the profiles of the given pets, or those with a chip number, newest pet first')
    .argument(
      '[id...]',
      `ids of up to ${LIST_PET_PROFILES.petId.maxItems} pets, separated by spaces`,
      collectIds,
    )
    .option('--chip-number <text>', 'list the profiles with this chip number')
    .action((ids: bigint[], options: ListProfilesOptions) => {
      const { chipNumber } = options
      if ((ids.length === 0) === (chipNumber === undefined))
        list.error('error: give either ids or --chip-number')
      const query = chipNumber === undefined ? { petId: ids } : { chipNumber }
      return callService(options, async ({ store, call }) => {
        await printItems(await store.pets.profiles(query, call), options.json ?? false, COLUMNS)
      })
    })
  addRemoteOptions(
    list,
    ['petstore pets profiles 42 43', 'petstore pets profiles --chip-number 276098106123456'],
    { json: LIST_HELP.json },
  )
}

function addSetProfile(pets: Command): void {
  const set = pets
    .command('set-profile')
    .description(
      'replace the profile of a pet, and show it; a field that you do not give has no value afterwards',
    )
    .argument('<id>', 'id of the pet', parseIdArgument)
  for (const name of WRITABLE_NAMES) set.addOption(factOption(name))
  set
    .option(
      '--if-match <etag>',
      'replace the profile only if it still has this ETag, which `petstore pets profile` prints',
      parseEtagOf('petstore pets profile'),
    )
    .action((id: bigint, options: SetOptions) => {
      const { ifMatch } = options
      const profile = Object.fromEntries(WRITABLE_NAMES.map((name) => [name, options[name]]))
      return callService(
        { ...options, checkWith: `petstore pets profile ${id}` },
        async ({ store, call }) => {
          await printProfile(await store.pets.setProfile(id, profile, { ...call, ifMatch }), options)
        },
      )
    })
  addRemoteOptions(set, [
    'petstore pets set-profile 42 --price 129.00 --breed Beagle --sex female --born-on 2025-05-31',
    'petstore pets set-profile 42 --price 99.00 --if-match 1',
  ])
}

function factText(
  { currency, ...profile }: PetProfile,
  name: (typeof FACT_COLUMNS)[number],
): string | undefined {
  const text = profile[name]
  return name === 'price' && text !== undefined ? `${text} ${currency}` : text
}

/** The facts among the options; undefined without one. */
export function givenProfile(options: NewPetProfile): NewPetProfile | undefined {
  const given = WRITABLE_NAMES.filter((name) => options[name] !== undefined)
  return given.length === 0 ? undefined : Object.fromEntries(given.map((name) => [name, options[name]]))
}

export function factOption(name: FactName): Option {
  const { value = '<text>', help } = FACTS[name]
  const option = new Option(`--${columnOf(name).replaceAll('_', '-')} ${value}`, help)
  const rules = NEW_PET_PROFILE[name]
  return 'enum' in rules ? option.choices(rules.enum) : option
}

async function printProfile(
  { etag, ...profile }: PetProfile & { etag: string },
  { json }: RemoteOptions,
): Promise<void> {
  if (json) return print(toJson(profile))
  await printItems([profile], false, COLUMNS)
  say(`The ETag of the profile: ${visible(etag)}`)
}
