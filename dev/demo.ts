// 500 demo pets in 8 named categories, the same on every machine.
import { type Category, upsertCategories } from '../src/categories/queries.ts'
import type { Db } from '../src/db/database.ts'
import { insertPets, type PetToInsert } from '../src/pets/queries.ts'
import type { PetStatus } from '../src/pet-status.ts'

const PETS = 500

const CATEGORIES: Category[] = [
  'Dogs',
  'Cats',
  'Rabbits',
  'Guinea pigs',
  'Birds',
  'Fish',
  'Reptiles',
  'Hamsters',
].map((name, index) => ({ id: BigInt(index + 1), name }))

const KINDS = [
  ['Labrador', 'Beagle', 'Border Collie', 'Dachshund', 'Poodle', 'Boxer', 'Whippet', 'Mixed breed'],
  ['Maine Coon', 'Siamese', 'British Shorthair', 'Ragdoll', 'Tabby', 'Bengal', 'Norwegian Forest'],
  ['Dwarf Lop', 'Netherland Dwarf', 'Rex', 'Lionhead', 'Angora'],
  ['Abyssinian', 'Peruvian', 'American', 'Teddy'],
  ['Budgerigar', 'Cockatiel', 'Canary', 'Zebra Finch', 'Lovebird'],
  ['Betta', 'Guppy', 'Neon Tetra', 'Angelfish', 'Goldfish'],
  ['Corn Snake', 'Leopard Gecko', 'Bearded Dragon', 'Hermann’s Tortoise'],
  ['Syrian', 'Roborovski', 'Campbell’s'],
] as const

const NAMES = [
  'Biscuit',
  'Luna',
  'Milo',
  'Pepper',
  'Oscar',
  'Nala',
  'Toffee',
  'Simba',
  'Willow',
  'Ziggy',
  'Coco',
  'Rusty',
  'Hazel',
  'Jasper',
  'Maple',
  'Pickle',
  'Olive',
  'Ruby',
  'Scout',
  'Poppy',
  'Bruno',
  'Ginger',
  'Dusty',
  'Freya',
  'Otis',
  'Juno',
  'Mochi',
  'Basil',
  'Clover',
  'Finn',
  'Pixie',
  'Sunny',
  'Storm',
  'Tilly',
  'Waffles',
  'Zoë',
] as const

/** Adds the demo pets if the catalogue is empty. Returns the number of pets added. */
export async function addDemoPets(db: Db): Promise<number> {
  const [any] = await db.read({ name: 'any_pet', text: 'select 1 from pets limit 1', values: [] })
  if (any !== undefined) return 0
  await upsertCategories(db, CATEGORIES)
  await insertPets(
    db,
    Array.from({ length: PETS }, (_, index) => demoPet(index)),
  )
  return PETS
}

function demoPet(index: number): PetToInsert {
  // With these factors, consecutive pets have different categories and names.
  const category = (index * 5) % CATEGORIES.length
  const kinds = KINDS[category] ?? KINDS[0]
  const kind = kinds[(index * 3 + Math.floor(index / 7)) % kinds.length]
  const name = NAMES[(index * 17 + Math.floor(index / 11)) % NAMES.length]
  return {
    name: `${name} (${kind})`,
    categoryId: BigInt(category + 1),
    status: demoStatus(index),
    createdBy: undefined,
    requestId: 'demo',
  }
}

/** 70% available, 15% pending, 15% sold. */
function demoStatus(index: number): PetStatus {
  const position = (index * 13) % 20
  if (position < 14) return 'available'
  return position < 17 ? 'pending' : 'sold'
}
