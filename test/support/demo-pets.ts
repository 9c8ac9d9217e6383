// The demo pets without their past: no orders, no history, and all added now. Tests that count sales and holds start with them.
import type { PetStatus } from '../../src/contract/pet-status.ts'
import { CATEGORIES, demoPet, PET_COUNT } from '../../src/data/demo/demo-pets.ts'
import type { Db } from '../../src/db/database.ts'
import { upsertCategories } from '../../src/store/categories/queries.ts'
import { insertPets } from '../../src/store/pets/queries.ts'

export async function addDemoPets(db: Db): Promise<void> {
  await upsertCategories(db, CATEGORIES)
  const pets = Array.from({ length: PET_COUNT }, (_, index) => ({
    ...demoPet(index),
    status: demoStatus(index),
    createdBy: undefined,
    requestId: 'demo',
  }))
  await insertPets(db, pets)
}

/** 70% available, 15% pending, 15% sold. */
function demoStatus(index: number): PetStatus {
  const position = (index * 13) % 20
  if (position < 14) return 'available'
  return position < 17 ? 'pending' : 'sold'
}
