// Whether a pet is for sale. Apart from the other shapes of a pet, because history, inventory and orders need it too.

export const PET_STATUSES = ['available', 'pending', 'sold'] as const
export type PetStatus = (typeof PET_STATUSES)[number]

/** How many pets have each status. */
export type Counts = Record<PetStatus, bigint>
