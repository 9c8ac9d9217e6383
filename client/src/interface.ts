// Written by `npm run openapi` from openapi.json; do not edit.

/** An id as it is answered: its decimal digits, all of them. */
export type Id = string

/** An id as it may be given: digits, a bigint, or a number that JavaScript has not rounded. */
export type IdInput = string | number | bigint

/** Availability of an animal. */
export type PetStatus = 'available' | 'pending' | 'sold'

/** An animal to add. Without a status it is available. Fields not named here are ignored. */
export interface NewPet {
  /** Kept exactly as sent. Counted in code points; not blank, without NUL, well-formed Unicode. */
  name: string
  /** Id of the category the animal belongs to. */
  categoryId: IdInput
  status?: PetStatus | undefined
}

/** An animal of the catalogue. */
export interface Pet {
  /** Assigned by the service on creation. */
  id: Id
  /** Kept exactly as sent. Counted in code points; not blank, without NUL, well-formed Unicode. */
  name: string
  /** Id of the category the animal belongs to. */
  categoryId: Id
  status: PetStatus
}

/** Animals, newest first. */
export type Pets = Pet[]

/** What to change of an animal; what is absent stays. */
export interface PetChange {
  /** Kept exactly as sent. Counted in code points; not blank, without NUL, well-formed Unicode. */
  name?: string | undefined
  /** Id of the category the animal belongs to. */
  categoryId?: IdInput | undefined
  status?: PetStatus | undefined
  /** Why, for the history. */
  reason?: string | undefined
}

/** One change of an animal. */
export interface HistoryEntry {
  at: string
  event: 'created' | 'updated' | 'order_placed' | 'order_completed' | 'order_cancelled' | 'order_expired'
  /** What changed, before. */
  from?: {
    name?: string
    categoryId?: Id
    status?: 'available' | 'pending' | 'sold'
  }
  /** What changed, after. */
  to?: {
    name?: string
    categoryId?: Id
    status?: 'available' | 'pending' | 'sold'
  }
  /** Whose key did it; `petstore` where the service itself did. */
  apiKeyName: string
  /** Finds the request in the logs. */
  requestId: string
  reason?: string
}

/** The changes of an animal, newest first; the last one is its creation. */
export type History = HistoryEntry[]

/** How many animals have each status. */
export interface Counts {
  available: number
  pending: number
  sold: number
}

export interface CategoryName {
  /** What the staff calls it. Counted in code points; not blank. */
  name: string
}

/** A category that has a name or animals, and how many of each status. */
export interface Category {
  id: Id
  /** What the staff calls it. Counted in code points; not blank. */
  name?: string
  counts: Counts
}

/** Categories by id. */
export type Categories = Category[]

/** An order to place. */
export interface NewOrder {
  /** The animal to hold. */
  petId: IdInput
  /** How long to hold it; an hour unless the operator chose another default. */
  holdMinutes?: number | undefined
  /** For the staff: who wants it, when they come. */
  note?: string | undefined
}

/** A hold on an animal, and how it ended. */
export interface Order {
  /** Assigned by the service. */
  id: Id
  /** The animal. */
  petId: Id
  status: 'open' | 'completed' | 'cancelled' | 'expired'
  /** For the staff: who wants it, when they come. */
  note?: string
  /** Name of the API key that placed it. */
  placedBy: string
  /** When it was placed. */
  createdAt: string
  /** When the hold ends by itself. */
  expiresAt: string
  /** When it ended, in whatever way. */
  closedAt?: string
}

/** Orders, newest first. */
export type Orders = Order[]

/** The key that you are calling with. */
export interface OwnApiKey {
  /** Who or what uses it. A new key cannot be named `petstore`, which stands for the service itself. */
  name: string
  scopes: ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'admin')[]
  /** When it ends by itself. */
  expiresAt?: string
}

/** A key, without its text. */
export interface ApiKey {
  id: Id
  /** Who or what uses it. A new key cannot be named `petstore`, which stands for the service itself. */
  name: string
  scopes: ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'admin')[]
  /** Requests per second for this key. */
  rateLimit?: number
  createdAt: string
  /** To the minute. */
  lastUsedAt?: string
  /** When it ends by itself. */
  expiresAt?: string
  /** When it was revoked. */
  revokedAt?: string
}

/** A new key. */
export interface IssuedApiKey {
  id: Id
  /** Who or what uses it. A new key cannot be named `petstore`, which stands for the service itself. */
  name: string
  scopes: ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'admin')[]
  /** Requests per second for this key. */
  rateLimit?: number
  createdAt: string
  /** To the minute. */
  lastUsedAt?: string
  /** When it ends by itself. */
  expiresAt?: string
  /** When it was revoked. */
  revokedAt?: string
  /** The key itself, shown this once. */
  key: string
}

/** Keys, newest first. */
export type ApiKeys = ApiKey[]

/** A key to make. Without scopes it may read and write animals. */
export interface NewApiKey {
  /** Who or what uses it. A new key cannot be named `petstore`, which stands for the service itself. */
  name: string
  scopes?: readonly ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'admin')[] | undefined
  /** Requests per second for this key. */
  rateLimit?: number | undefined
  expiresInSeconds?: number | undefined
}

export interface Rotation {
  /** How long the old key works on. */
  overlapSeconds?: number | undefined
}

export interface ListPetsQuery {
  /** Max number of items to return. With `id` the default is 100. */
  limit?: number | undefined
  /** Only animals with this status. */
  status?: 'available' | 'pending' | 'sold' | undefined
  /** Only animals of this category. */
  categoryId?: IdInput | undefined
  /** Only these animals, repeated once for each id; unknown ids are absent. Not with `cursor`. */
  id?: readonly IdInput[] | undefined
  /** Only animals whose name begins so, in upper or lower case; sorted by name. Not with another filter. */
  name?: string | undefined
  /** Returns the next page. Take it from the `Link` header of the previous page, and send the same filters. */
  cursor?: string | undefined
}

export interface GetPetHistoryQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Returns the next page. Take it from the `Link` header of the previous page, and send the same filters. */
  cursor?: string | undefined
}

export interface ListCategoriesQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Returns the next page. Take it from the `Link` header of the previous page, and send the same filters. */
  cursor?: string | undefined
}

export interface ListOrdersQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Only orders with this status. */
  status?: 'open' | 'completed' | 'cancelled' | 'expired' | undefined
  /** Only orders of this animal. */
  petId?: IdInput | undefined
  /** Returns the next page. Take it from the `Link` header of the previous page, and send the same filters. */
  cursor?: string | undefined
}

export interface ListApiKeysQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Returns the next page. Take it from the `Link` header of the previous page, and send the same filters. */
  cursor?: string | undefined
}

/** Every error code of the service so far. */
export type ErrorCode =
  | 'missing_body'
  | 'invalid_json'
  | 'invalid_body'
  | 'invalid_parameter'
  | 'invalid_cursor'
  | 'unknown_category'
  | 'malformed_request'
  | 'missing_api_key'
  | 'invalid_api_key'
  | 'insufficient_scope'
  | 'route_not_found'
  | 'pet_not_found'
  | 'order_not_found'
  | 'api_key_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'idempotency_key_in_use'
  | 'pet_not_available'
  | 'pet_on_hold'
  | 'pet_has_orders'
  | 'invalid_transition'
  | 'order_closed'
  | 'operation_removed'
  | 'precondition_failed'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'unavailable'
  | 'overloaded'
  | 'outcome_unknown'

/** One fault of a request. */
export interface ErrorDetail {
  field: string
  code: string
  message: string
}

/** Every operation: where it is, what it takes and what it answers. */
export interface Operations {
  listPets: {
    method: 'GET'
    path: '/pets'
    query: ListPetsQuery
    body: undefined
    response: Pets
  }
  createPet: {
    method: 'POST'
    path: '/pets'
    query: undefined
    body: NewPet
    response: Pet
  }
  getPet: {
    method: 'GET'
    path: `/pets/${string}`
    query: undefined
    body: undefined
    response: Pet
  }
  updatePet: {
    method: 'PATCH'
    path: `/pets/${string}`
    query: undefined
    body: PetChange
    response: Pet
  }
  deletePet: {
    method: 'DELETE'
    path: `/pets/${string}`
    query: undefined
    body: undefined
    response: undefined
  }
  getPetHistory: {
    method: 'GET'
    path: `/pets/${string}/history`
    query: GetPetHistoryQuery
    body: undefined
    response: History
  }
  listCategories: {
    method: 'GET'
    path: '/categories'
    query: ListCategoriesQuery
    body: undefined
    response: Categories
  }
  putCategory: {
    method: 'PUT'
    path: `/categories/${string}`
    query: undefined
    body: CategoryName
    response: Category
  }
  placeOrder: {
    method: 'POST'
    path: '/store/orders'
    query: undefined
    body: NewOrder
    response: Order
  }
  listOrders: {
    method: 'GET'
    path: '/store/orders'
    query: ListOrdersQuery
    body: undefined
    response: Orders
  }
  getOrder: {
    method: 'GET'
    path: `/store/orders/${string}`
    query: undefined
    body: undefined
    response: Order
  }
  completeOrder: {
    method: 'POST'
    path: `/store/orders/${string}/complete`
    query: undefined
    body: undefined
    response: Order
  }
  cancelOrder: {
    method: 'POST'
    path: `/store/orders/${string}/cancel`
    query: undefined
    body: undefined
    response: Order
  }
  getInventory: {
    method: 'GET'
    path: '/store/inventory'
    query: undefined
    body: undefined
    response: Counts
  }
  getOwnApiKey: {
    method: 'GET'
    path: '/api-keys/self'
    query: undefined
    body: undefined
    response: OwnApiKey
  }
  listApiKeys: {
    method: 'GET'
    path: '/api-keys'
    query: ListApiKeysQuery
    body: undefined
    response: ApiKeys
  }
  createApiKey: {
    method: 'POST'
    path: '/api-keys'
    query: undefined
    body: NewApiKey
    response: IssuedApiKey
  }
  rotateApiKey: {
    method: 'POST'
    path: `/api-keys/${string}/rotate`
    query: undefined
    body: Rotation
    response: IssuedApiKey
  }
  revokeApiKey: {
    method: 'DELETE'
    path: `/api-keys/${string}`
    query: undefined
    body: undefined
    response: undefined
  }
}
