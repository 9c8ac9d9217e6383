// Planted defects of profiles.
import type { Defect } from './defect.ts'

const RULES = 'src/store/profiles/profiles.ts'
const QUERIES = 'src/store/profiles/queries.ts'
const EVENTS = 'migrations/0004_events.sql'
const CONTRACT_TEST = 'test/contract/pet-profiles.test.ts'
const TEST = 'test/store/profiles.test.ts'

export const PROFILE_DEFECTS: readonly Defect[] = [
  {
    name: 'a change of a profile changes the version of its pet',
    file: RULES,
    find: 'const version = await upsertPetProfile(tx, profile, actor)\n',
    replace: `const version = await upsertPetProfile(tx, profile, actor)
      await tx.write({ name: 'x', text: 'update pets set version = version + 1 where id = $1', values: [petId] })\n`,
    test: CONTRACT_TEST,
    title: 'a profile changes neither the pet nor its ETag',
  },
  {
    name: 'a change of a profile ignores If-Match',
    file: RULES,
    find: "    if (!isExpected(stored.version)) throw new AppError('precondition_failed')\n",
    replace: '',
    test: CONTRACT_TEST,
  },
  {
    name: 'two changes of the same version of a profile succeed, because the pet is not locked',
    file: RULES,
    find: 'const pet = await lockPet(tx, petId)',
    replace: `const pet = (await findPetProfile(tx, petId)) && { id: petId, status: 'available' as const }`,
    test: CONTRACT_TEST,
    title: 'lets one of 16 concurrent changes of the same version succeed',
  },
  {
    name: 'a price without a currency takes that of the store, although the stored one has another',
    file: 'src/contract/price.ts',
    find: 'const before = stored.currency ?? currency',
    replace: 'const before = currency',
    test: TEST,
    title: 'is not that of the stored price',
  },
  {
    name: 'a profile accepts a price with wrong decimal places',
    file: 'src/contract/price.ts',
    find: 'price === undefined || isOther || isAmount(price, currency)',
    replace: 'true',
    test: CONTRACT_TEST,
  },
  {
    name: 'the price of a profile loses its decimal places',
    file: QUERIES,
    find: "price: 'price::text'",
    replace: "price: 'trim_scale(price)::text'",
    test: CONTRACT_TEST,
  },
  {
    name: 'a profile accepts a birth in the future',
    file: RULES,
    find: 'bornOn === undefined || bornOn <= latest',
    replace: 'true',
    test: CONTRACT_TEST,
  },
  {
    name: 'a PUT of a profile keeps the fields that it does not send',
    file: QUERIES,
    find: '= excluded.${column}',
    replace: '= coalesce(excluded.${column}, pet_profiles.${column})',
    test: CONTRACT_TEST,
  },
  {
    name: 'a pet is created before its profile is checked',
    file: RULES,
    find: '    const details = profileFaults(fields, currency, now)\n    if (details.length > 0) throw',
    replace: '    const details = profileFaults(fields, currency, now)\n    if (details.length > 99) throw',
    test: 'test/contract/create-pet.test.ts',
  },
  {
    name: 'the fingerprint of createPet leaves out the profile',
    file: 'src/store/pets/pets.ts',
    find: 'values: [name, categoryId, status, ...givenFacts(fields)]',
    replace: 'values: [name, categoryId, status]',
    test: 'test/contract/create-pet.test.ts',
  },
  {
    name: 'the profile of a new pet has the actor of the connection',
    file: EVENTS,
    find: 'cross join lateral (select pets.created_at = now()) as creation (is_new)',
    replace: 'cross join lateral (select false) as creation (is_new)',
    test: 'test/store/pets-create.test.ts',
  },
  {
    name: 'a profile survives its pet',
    file: 'migrations/0001_pets.sql',
    find: 'pet_id bigint primary key references pets (id) on delete cascade',
    replace: 'pet_id bigint primary key',
    test: CONTRACT_TEST,
    title: 'is deleted with its pet',
  },
  {
    name: 'the search for profiles by chip number also finds longer numbers',
    file: QUERIES,
    find: 'where (chip_number, pet_id) <= ($1, ${INT64_MAX}) and',
    replace: 'where starts_with(chip_number, $1) and',
    test: CONTRACT_TEST,
  },
  {
    name: 'the search for profiles by chip number finds only the newest pet',
    file: QUERIES,
    find: 'limit ${LIST_LIMIT_MAX}',
    replace: 'limit 1',
    test: CONTRACT_TEST,
  },
  {
    name: 'a list of profiles needs no parameter',
    file: 'src/http/validation.ts',
    find: "if (alternatives.length > 0) translated['allOf'] = alternatives",
    replace: '',
    test: CONTRACT_TEST,
  },
  {
    name: 'a profile accepts text with control characters',
    file: 'src/http/validation.ts',
    find: 'text.isWellFormed() && !/\\p{Cc}/u.test(text)',
    replace: 'text.isWellFormed()',
    test: CONTRACT_TEST,
  },
  {
    name: 'a PUT of a profile that changes nothing writes an event',
    file: RULES,
    find: '  if (names.length === 0) return undefined\n',
    replace: '',
    test: TEST,
  },
  {
    name: 'a profile is changed before the expired hold of its pet ends',
    file: RULES,
    find: '    await releaseExpiredHold(tx, pet, actor.requestId)\n',
    replace: '',
    test: TEST,
    title: 'has the end of an expired hold before a change of the profile',
  },
  {
    name: 'the first profile of a pet has no event',
    file: EVENTS,
    find: `create trigger record_inserted_profiles after insert on pet_profiles
  referencing new table as written for each statement execute function record_written_profiles();`,
    replace: '',
    test: TEST,
  },
  {
    name: 'a change of a profile has no event',
    file: EVENTS,
    find: `create trigger record_updated_profiles after update on pet_profiles
  referencing new table as written for each statement execute function record_written_profiles();`,
    replace: '',
    test: TEST,
  },
  {
    name: 'the event of a profile has the price as a number',
    file: EVENTS,
    find: "'price', price::text",
    replace: "'price', price",
    test: TEST,
  },
  {
    name: 'the history has all fields of a profile instead of the changed ones',
    file: RULES,
    find: 'hasOtherPrice : before[name] !== after[name]',
    replace: 'hasOtherPrice : true',
    test: TEST,
  },
  {
    name: 'the history of a profile shows a price without its currency',
    file: RULES,
    find: "name === 'price' || name === 'currency' ? hasOtherPrice",
    replace: "name === 'price' ? hasOtherPrice",
    test: TEST,
  },
  {
    name: 'the message of a webhook has no profile',
    file: 'src/events/delivery/message.ts',
    find: 'petId, pet, changed, profile, order:',
    replace: 'petId, pet, changed, order:',
    test: 'test/events/delivery.test.ts',
    title: 'delivers the whole profile of a pet',
  },
  {
    name: 'an import of profiles ignores the currency of a file',
    file: 'src/data/import-export/profile-columns.ts',
    find: 'if (given !== currency) faults.push',
    replace: 'if (false) faults.push',
    test: 'test/cli/import.process.test.ts',
  },
  {
    name: 'an import gives profiles to the wrong pets if rows were rejected',
    file: 'src/data/import-export/batches.ts',
    find: 'row: batch.read - batch.rejected.length',
    replace: 'row: batch.read',
    test: 'test/cli/import.process.test.ts',
  },
  {
    name: 'the console gets the default currency',
    file: 'src/pages/console.ts',
    find: '.replace(CURRENCY_SETTING, setting)',
    replace: '',
    test: 'test/pages/console.test.ts',
  },
]
