// The keys of all cached data. A key that is the start of another key includes its data.

export const KEYS = {
  /** All lists of pets. The filters follow. */
  petLists: ['pets'] as const,
  petList: (filters: object) => ['pets', filters] as const,
  pets: ['pet'] as const,
  /** A pet, with its history below. */
  pet: (petId: string) => ['pet', petId] as const,
  history: (petId: string) => ['pet', petId, 'history'] as const,
  /** Whether the pet was ever held or sold. */
  hasOrders: (petId: string) => ['pet', petId, 'has-orders'] as const,
  /** The open order that holds a pet, or null. */
  openOrders: ['open-order'] as const,
  openOrder: (petId: string) => ['open-order', petId] as const,
  orders: ['orders'] as const,
  openHolds: ['orders', 'open'] as const,
  /** The holds that end next. */
  nextHolds: ['orders', 'next'] as const,
  /** The pets of the open holds. Their ids follow. */
  heldPetLists: ['held-pets'] as const,
  heldPets: (petIds: string[]) => ['held-pets', petIds] as const,
  categories: ['categories'] as const,
  inventory: ['inventory'] as const,
  figures: ['figures'] as const,
  apiKeys: ['api-keys'] as const,
  deprecatedCalls: ['deprecated-calls'] as const,
}
