// 500 demo pets in 8 named categories, the same on every machine.
import type { PetStatus } from '../../contract/pet-status.ts'
import type { Db } from '../../db/database.ts'
import { type Category, upsertCategories } from '../../store/categories/queries.ts'
import { historyInsert } from '../../store/history/queries.ts'
import { insertPets, type PetToInsert } from '../../store/pets/queries.ts'

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

/** Why a pet is held. Some holds have no note. */
const NOTES = [
  'Ms Okafor, comes at noon',
  'Mr Lindqvist, pays on Friday',
  null,
  'Family Rossi',
  'phone 0151 2345',
]

/** Adds the demo pets if the catalogue is empty. Returns the number of pets added. */
export async function addDemoPets(db: Db): Promise<number> {
  if (await hasPets(db)) return 0
  await upsertCategories(db, CATEGORIES)
  await insertPets(
    db,
    Array.from({ length: PETS }, (_, index) => demoPet(index)),
  )
  return PETS
}

async function hasPets(db: Db): Promise<boolean> {
  const rows = await db.read({ name: 'has_pets', text: 'select 1 from pets limit 1', values: [] })
  return rows.length > 0
}

/**
 * Holds the pending demo pets for customers, with an entry in their history. The holds end one after another, the first
 * after 11 minutes.
 */
export async function holdDemoPets(db: Db, apiKeyName: string): Promise<void> {
  await db.write({
    name: 'hold_demo_pets',
    text: `with placed as (
        insert into orders (pet_id, placed_by, created_at, expires_at, note)
        select pets.id, api_keys.id, now(), now() + make_interval(mins => 10 + pets.position * pets.position),
          ($2::text[])[1 + pets.position % cardinality($2::text[])]
        from (
          select id, row_number() over (order by id desc)::int as position from pets where status = 'pending'
        ) as pets
        cross join (select id from api_keys where name = $1 order by id desc limit 1) as api_keys
        returning pet_id, placed_by
      ), recorded as (
        ${historyInsert(`select pet_id, 'order_placed', 'available', 'pending', placed_by, 'demo' from placed`)}
      )
      update pets set version = version + 1 from placed where pets.id = placed.pet_id`,
    values: [apiKeyName, NOTES],
  })
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
