// The status of a pet. Separate from src/store/pets/schema.ts, because history, inventory and orders use it too.

export const PET_STATUSES = ['available', 'pending', 'sold'] as const
export type PetStatus = (typeof PET_STATUSES)[number]

/** How many pets have each status. */
export type Counts = Record<PetStatus, bigint>
