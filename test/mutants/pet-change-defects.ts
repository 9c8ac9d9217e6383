// Planted defects of changePets.
import type { Defect } from './defect.ts'

const RULES = 'src/store/pet-changes/pet-changes.ts'
const QUERIES = 'src/store/pet-changes/queries.ts'
const CONTRACT_TEST = 'test/contract/change-pets.test.ts'
const TEST = 'test/store/pet-changes.test.ts'

export const PET_CHANGE_DEFECTS: readonly Defect[] = [
  {
    name: 'a change of many pets that changes nothing stores the pet',
    file: RULES,
    find: 'result: { status: 200, version: pet.version }',
    replace: 'result: toResult(200, pet)',
    test: TEST,
    title: 'stores for a key no more than was sent',
  },
  {
    name: 'a change of many pets that fails undoes the others',
    file: RULES,
    find: '    if (!(error instanceof AppError)) throw error\n    return',
    replace: '    if (error instanceof AppError) throw error\n    return',
    test: CONTRACT_TEST,
    title: 'fail alone: a change that fails does not undo another one',
  },
  {
    name: 'a request for many pets locks them in the order of the request',
    file: QUERIES,
    find: 'order by id\n      for update',
    replace: 'order by array_position($1::bigint[], id)\n      for update',
    test: TEST,
    title: 'locks the pets in the order of their ids',
  },
  {
    name: 'two of many changes name the same pet, and the request is accepted',
    file: RULES,
    find: '  rejectRepeatedPets(changes)\n',
    replace: '',
    test: CONTRACT_TEST,
    title: 'two changes of one pet',
  },
  {
    name: 'a change of many pets ignores the version',
    file: RULES,
    find: 'expected === undefined || version === expected',
    replace: 'true || version === expected',
    test: CONTRACT_TEST,
  },
  {
    name: 'a fault in one of many changes rejects the request',
    file: 'src/http/validation.ts',
    find: "(rest['x-per-item'] ?? [])",
    replace: '[]',
    test: CONTRACT_TEST,
  },
  {
    name: 'the fingerprint of many changes leaves out the profiles',
    file: RULES,
    find: 'status, ...givenFacts(profile)]',
    replace: 'status]',
    test: CONTRACT_TEST,
    title: 'reject a request with the same key and',
  },
  {
    name: 'many changes with an Idempotency-Key are made again by a retry',
    file: RULES,
    find: '  if (key === undefined)\n    return {',
    replace: '  if (key !== undefined)\n    return {',
    test: CONTRACT_TEST,
    title: 'are made once, and a retry gets the same bytes',
  },
  {
    name: 'one of many changes sells a pet that is on hold',
    file: RULES,
    find: 'isHeld: async (petId) => held.has(petId)',
    replace: 'isHeld: async () => false && held.size > 0',
    test: TEST,
  },
  {
    name: 'one of many changes finds an expired hold and does not end it',
    file: RULES,
    find: '    await endExpiredHold(tx, pet, orderId, requestId)\n',
    replace: '',
    test: TEST,
  },
  {
    name: 'many changes have no entries in the history',
    file: RULES,
    find: `    await insertHistories(
      tx,
      updates.map(({ entry }) => entry),
      options.actor,
    )\n`,
    replace: '',
    test: CONTRACT_TEST,
    title: 'have the version and the history of single changes',
  },
  {
    name: 'the deletions of many pets are not logged',
    file: 'src/store/pet-changes/routes.ts',
    find: "      for (const petId of outcome.deleted) logDeletion(request, petId, 'done')\n",
    replace: '',
    test: TEST,
  },
  {
    name: 'many creates accept an unnamed category with CATEGORIES=strict',
    file: RULES,
    find: '        await requireCategory(categoryId, facts.allowsCategory)\n',
    replace: '',
    test: TEST,
  },
]
