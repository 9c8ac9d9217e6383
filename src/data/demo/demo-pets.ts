// 500 demo pets in 8 named categories, the same on every machine. demo-past.ts says what happened to each of them.
import type { Category } from '../../store/categories/queries.ts'

export const PET_COUNT = 500

export const CATEGORIES: readonly Category[] = (
  [
    ['Dogs', 'dog'],
    ['Cats', 'cat'],
    ['Rabbits', 'rabbit'],
    ['Guinea pigs', 'rodent'],
    ['Birds', 'bird'],
    ['Fish', 'fish'],
    ['Reptiles', 'reptile'],
    ['Hamsters', 'rodent'],
  ] as const
).map(([name, picture], index) => ({ id: BigInt(index + 1), name, picture }))

/** The breeds of each category. */
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

/** The facts about a pet that never change. */
export interface DemoPet {
  name: string
  categoryId: bigint
  kind: string
}

export function demoPet(index: number): DemoPet {
  // With these factors, consecutive pets have different categories and names.
  const category = (index * 5) % CATEGORIES.length
  const kinds = KINDS[category] ?? KINDS[0]
  const kind = kinds[(index * 3 + Math.floor(index / 7)) % kinds.length] ?? kinds[0]
  const name = NAMES[(index * 17 + Math.floor(index / 11)) % NAMES.length]
  return { name: `${name} (${kind})`, categoryId: BigInt(category + 1), kind }
}
