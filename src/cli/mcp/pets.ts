// The tools that find, show, add and change pets.
import { Type } from 'typebox'
import { PetstoreError, type VersionedPet } from '../../../client/src/petstore.ts'
import { LIST_PETS, NEW_PET, PET_CHANGE } from '../../../client/src/rules.ts'
import { ERRORS } from '../../contract/errors.ts'
import { toFoundPet, toHistory, toHold, toPet, toShownPet } from './results.ts'
import {
  FACT_WORDS,
  FILTER_INPUTS,
  FoundPetShape,
  HistoryShape,
  HoldShape,
  idInput,
  inputOf,
  limitOf,
  NEXT_CURSOR,
  PAGE_INPUTS,
  PetShape,
  ShownPetShape,
  statusInput,
  textInput,
} from './schemas.ts'
import { defineTool, type ToolContext } from './tool.ts'
import { ToolFailure } from './failures.ts'

const PET_IDS_MAX = 50
const HISTORY_MAX = 20
const ORDERS_MAX = 5

const PetResult = Type.Object({ pet: PetShape })

const findPets = defineTool({
  name: 'find_pets',
  title: 'Find pets',
  description:
    'Lists pets with their prices, newest first: by status, by category, by a word of the name, by the beginning of the name, or by their numbers. Use it to find out which pets are available; pending means on hold. For a kind of pet, such as hamsters, get the categoryId from list_categories first. Names often contain the breed, which word finds. pets can be empty although there is a nextCursor: then call it again with the cursor. word cannot be combined with name or petIds, and name not with categoryId or petIds. For everything about one pet, use show_pet.',
  scopes: ['pets:read'],
  effect: 'reads',
  input: inputOf({
    ...FILTER_INPUTS,
    name: Type.Optional(
      textInput('Only pets whose name starts with this text, in upper or lower case.', LIST_PETS.name),
    ),
    word: Type.Optional(
      textInput(
        'Only pets whose name has a word that starts with this text, in upper or lower case.',
        LIST_PETS.word,
      ),
    ),
    petIds: Type.Optional(
      Type.Array(idInput('The number of a pet.'), {
        minItems: 1,
        maxItems: PET_IDS_MAX,
        description: 'Only the pets with these numbers. Unknown numbers are skipped.',
      }),
    ),
    ...PAGE_INPUTS,
  }),
  output: Type.Object({ pets: Type.Array(FoundPetShape), ...NEXT_CURSOR }),
  run: async ({ petIds: id, ...input }, { store, call }) => {
    // All pets with these numbers fit into one page.
    const limit = id === undefined ? limitOf(input) : PET_IDS_MAX
    const { items, nextCursor } = await store.pets.list({ ...input, id, limit }, call).page()
    const petId = items.map((pet) => pet.id)
    const profiles = petId.length === 0 ? [] : await store.pets.profiles({ petId }, call)
    const profileOf = new Map(profiles.map((profile) => [profile.petId, profile]))
    return { pets: items.map((pet) => toFoundPet(pet, profileOf.get(pet.id))), nextCursor }
  },
})

const showPet = defineTool({
  name: 'show_pet',
  title: 'Show a pet',
  description: `Shows one pet: its status, its price, what is known about it (${FACT_WORDS}), its last changes, and (if the key of this server can read orders) its last orders. Use it to find out who holds or bought a pet, until when it is on hold, and the orderId for sell_pet and release_pet.`,
  scopes: ['pets:read'],
  effect: 'reads',
  input: inputOf({ petId: idInput('The number of the pet.') }),
  output: Type.Object({
    pet: ShownPetShape,
    orders: Type.Optional(
      Type.Array(HoldShape, {
        description: `Newest first, at most ${ORDERS_MAX}. An open one holds the pet.`,
      }),
    ),
    history: Type.Array(HistoryShape, { description: `Newest first, at most ${HISTORY_MAX}.` }),
  }),
  run: ({ petId }, context) => readPet(petId, context),
})

/** Everything about one pet, also for the resource. */
export async function readPet(petId: string, { store, scopes, call }: ToolContext) {
  const [pet, [profile], history, orders] = await Promise.all([
    store.pets.find(petId, call).then(required),
    store.pets.profiles({ petId: [petId] }, call),
    store.pets.history(petId, { limit: HISTORY_MAX }, call).page(),
    scopes.has('orders:read') ? store.orders.list({ petId, limit: ORDERS_MAX }, call).page() : undefined,
  ])
  return {
    pet: toShownPet(pet, profile),
    orders: orders?.items.map((order) => toHold(order)),
    history: history.items.map(toHistory),
  }
}

/** The same error as that of an operation on an unknown pet. */
export function required(pet: VersionedPet | undefined): VersionedPet {
  if (pet !== undefined) return pet
  throw new PetstoreError({ code: 'pet_not_found', message: ERRORS.pet_not_found.message })
}

const addPet = defineTool({
  name: 'add_pet',
  title: 'Add a pet',
  description:
    'Adds a pet to the catalogue, as available. Each call adds one more pet, so call it once for each pet. Get the categoryId from list_categories; ask if none fits.',
  scopes: ['pets:write'],
  effect: 'adds',
  input: inputOf({
    name: textInput('Name of the pet.', NEW_PET.name),
    categoryId: idInput('The category that the pet belongs to.'),
  }),
  output: PetResult,
  run: async (pet, { store, call }) => ({ pet: toPet(await store.pets.create(pet, call)) }),
})

const changePet = defineTool({
  name: 'change_pet',
  title: 'Change a pet',
  description:
    'Corrects the name, the category or the status of a pet. Do not use it to sell or hold a pet: use hold_pet and sell_pet, which record the customer. A status can be corrected only while no order holds the pet, for example to available after a customer returned it.',
  scopes: ['pets:read', 'pets:write'],
  effect: 'replaces',
  input: inputOf({
    petId: idInput('The number of the pet.'),
    name: Type.Optional(textInput('The new name.', PET_CHANGE.name)),
    categoryId: Type.Optional(idInput('The new category.')),
    status: Type.Optional(statusInput('The new status.')),
    reason: Type.Optional(textInput('Why, for the history of the pet.', PET_CHANGE.reason)),
  }),
  output: PetResult,
  run: async ({ petId, ...change }, context) => {
    const { name, categoryId, status } = change
    if (name === undefined && categoryId === undefined && status === undefined)
      throw new ToolFailure('Nothing was changed: give a name, a categoryId or a status.')
    const { store, call } = context
    // With the version, the client can retry the change: a retry never overwrites a later change by another person.
    const { etag: ifMatch } = required(await store.pets.find(petId, call))
    try {
      return { pet: toPet(await store.pets.update(petId, change, { ...call, ifMatch })) }
    } catch (error) {
      if (!(await wasMade(error, petId, context))) throw error
      return { pet: toPet(required(await store.pets.find(petId, call))) }
    }
  },
})

/** Whether an attempt whose response was lost has made the change: the version then no longer matches at the next attempt. */
async function wasMade(error: unknown, petId: string, { store, call }: ToolContext): Promise<boolean> {
  if (!(error instanceof PetstoreError) || error.code !== 'precondition_failed' || !error.outcomeUnknown)
    return false
  const { items } = await store.pets.history(petId, { limit: HISTORY_MAX }, call).page()
  const [ofThisCall] = (error.requestId ?? '').split('.')
  return items.some(({ requestId }) => requestId.split('.')[0] === ofThisCall)
}

export const PET_TOOLS = [findPets, showPet, addPet, changePet]
