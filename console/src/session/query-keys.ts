// The keys of all cached data. A key that is the start of another key includes its data.

export const KEYS = {
  /** All lists of pets. The filters follow. */
  petLists: ['pets'] as const,
  petList: (filters: object) => ['pets', filters] as const,
  pets: ['pet'] as const,
  /** A pet, with its history below. */
  pet: (petId: string) => ['pet', petId] as const,
  history: (petId: string) => ['pet', petId, 'history'] as const,
  /** The last completed order of the pet, or null. */
  sale: (petId: string) => ['pet', petId, 'sale'] as const,
  /** The entries of the ledger of all orders of the pet. */
  entriesOfPet: (petId: string) => ['pet', petId, 'entries'] as const,
  /** Whether the pet was ever held or sold. */
  hasOrders: (petId: string) => ['pet', petId, 'has-orders'] as const,
  /** The open order that holds a pet, or null. */
  openOrders: ['open-order'] as const,
  openOrder: (petId: string) => ['open-order', petId] as const,
  /** The price and the facts of a pet. */
  profiles: ['profile'] as const,
  profile: (petId: string) => ['profile', petId] as const,
  /** The same for pets of a list. Their ids follow. */
  profileLists: ['profiles'] as const,
  profileList: (petIds: string[]) => ['profiles', petIds] as const,
  /** The pets and profiles of cage cards. Their ids follow. */
  cards: (petIds: string[]) => ['cards', petIds] as const,
  /** The pets that have a chip number. */
  chip: (chipNumber: string) => ['chip', chipNumber] as const,
  /** Whether the pets of a file are in the list already. */
  importedFile: (hash: string) => ['imported-file', hash] as const,
  orders: ['orders'] as const,
  openHolds: ['orders', 'open'] as const,
  /** The holds that end next. */
  nextHolds: ['orders', 'next'] as const,
  /** The orders that have ended and still hold a deposit. */
  deposits: ['orders', 'deposits'] as const,
  /** The pets of orders. Their ids follow. */
  orderedPetLists: ['ordered-pets'] as const,
  orderedPets: (petIds: string[]) => ['ordered-pets', petIds] as const,
  categories: ['categories'] as const,
  inventory: ['inventory'] as const,
  settings: ['settings'] as const,
  /** The last completed order of the shop, or null. */
  lastSale: ['orders', 'last-sale'] as const,
  /** Everything that comes from the ledger. Its days follow. */
  till: ['till'] as const,
  tillTotals: (range: object) => ['till', 'totals', range] as const,
  tillDrawer: (range: object) => ['till', 'drawer', range] as const,
  tillEntries: (range: object) => ['till', 'entries', range] as const,
  closings: ['till', 'closings'] as const,
  receipt: (orderId: string) => ['till', 'receipt', orderId] as const,
  figures: ['figures'] as const,
  apiKeys: ['api-keys'] as const,
  apiKeysOf: (kind: string) => ['api-keys', kind] as const,
  deprecatedCalls: ['deprecated-calls'] as const,
  /** The list of webhooks. */
  webhooks: ['webhooks'] as const,
  health: ['health'] as const,
  /** A webhook, with its deliveries below. */
  webhook: (id: string) => ['webhook', id] as const,
  deliveries: (id: string, outcome: string | undefined) => ['webhook', id, 'deliveries', outcome] as const,
  givenUpMessages: (id: string, sinceMs: number) => ['webhook', id, 'given-up-messages', sinceMs] as const,
  testResult: (id: string, afterId: string) => ['webhook', id, 'test-result', afterId] as const,
}
