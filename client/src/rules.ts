// Written by `npm run openapi` from openapi.json; do not edit.
// What the service accepts in each field of a body, and in each parameter and header. Lengths are counted in code points.

export const NEW_PET = {
  name: { minLength: 1, maxLength: 500, pattern: "\\S" },
  categoryId: { minimum: 1, format: "int64" },
  status: { enum: ["available","pending","sold"] },
} as const

export const NEW_PET_PROFILE = {
  price: { maxLength: 15, format: "amount" },
  currency: { maxLength: 3, format: "currency" },
  breed: { minLength: 1, maxLength: 100, pattern: "\\S", format: "single-line" },
  sex: { enum: ["female","male","unknown"] },
  bornOn: { format: "date" },
  chipNumber: { minLength: 1, maxLength: 40, pattern: "^[0-9A-Za-z]+$" },
  reference: { minLength: 1, maxLength: 100, pattern: "\\S", format: "single-line" },
  description: { minLength: 1, maxLength: 2000, pattern: "\\S", format: "multi-line" },
} as const

export const PET_CHANGE = {
  name: { minLength: 1, maxLength: 500, pattern: "\\S" },
  categoryId: { minimum: 1, format: "int64" },
  status: { enum: ["available","pending","sold"] },
  reason: { minLength: 1, maxLength: 500 },
} as const

export const PET_BY_REFERENCE = {
  name: { minLength: 1, maxLength: 500, pattern: "\\S" },
  categoryId: { minimum: 1, format: "int64" },
  status: { enum: ["available","pending","sold"] },
} as const

export const PROFILE_CHANGE = {
  price: { maxLength: 15, format: "amount" },
  currency: { maxLength: 3, format: "currency" },
  breed: { minLength: 1, maxLength: 100, pattern: "\\S", format: "single-line" },
  sex: { enum: ["female","male","unknown",null] },
  bornOn: { format: "date" },
  chipNumber: { minLength: 1, maxLength: 40, pattern: "^[0-9A-Za-z]+$" },
  reference: { minLength: 1, maxLength: 100, pattern: "\\S", format: "single-line" },
  description: { minLength: 1, maxLength: 2000, pattern: "\\S", format: "multi-line" },
} as const

export const PET_CHANGES = {
  changes: { minItems: 1, maxItems: 100 },
} as const

export const PET_TO_CREATE = {
  name: { minLength: 1, maxLength: 500, pattern: "\\S" },
  categoryId: { minimum: 1, format: "int64" },
  status: { enum: ["available","pending","sold"] },
} as const

export const PET_TO_UPDATE = {
  petId: { minimum: 1, format: "int64" },
  version: { minimum: 1, maximum: 2147483647 },
  name: { minLength: 1, maxLength: 500, pattern: "\\S" },
  categoryId: { minimum: 1, format: "int64" },
  status: { enum: ["available","pending","sold"] },
  reason: { minLength: 1, maxLength: 500 },
} as const

export const PET_TO_DELETE = {
  petId: { minimum: 1, format: "int64" },
  version: { minimum: 1, maximum: 2147483647 },
} as const

export const CATEGORY_NAME = {
  name: { minLength: 1, maxLength: 100, pattern: "\\S" },
  picture: { enum: ["dog","cat","rabbit","rodent","bird","fish","reptile","snake","tortoise","frog","insect","other",null] },
} as const

export const NEW_ORDER = {
  petId: { minimum: 1, format: "int64" },
  holdMinutes: { minimum: 1, maximum: 10080 },
  note: { minLength: 1, maxLength: 500 },
  price: { maxLength: 15, format: "amount" },
  currency: { maxLength: 3, format: "currency" },
  deposit: { maxLength: 15, format: "amount" },
  method: { enum: ["cash","card","transfer","other"] },
} as const

export const ORDER_CHANGES = {
  note: { minLength: 1, maxLength: 500 },
  expiresAt: { format: "date-time" },
} as const

export const ORDER_COMPLETION = {
  note: { minLength: 1, maxLength: 500 },
  price: { maxLength: 15, format: "amount" },
  currency: { maxLength: 3, format: "currency" },
  method: { enum: ["cash","card","transfer","other"] },
  reason: { enum: ["wrong_price","changed_mind","ill","discount","other"] },
} as const

export const ORDER_CORRECTION = {
  price: { maxLength: 15, format: "amount" },
  currency: { maxLength: 3, format: "currency" },
  method: { enum: ["cash","card","transfer","other"] },
  reason: { enum: ["wrong_price","changed_mind","ill","discount","other"] },
} as const

export const ORDER_REFUND = {
  amount: { maxLength: 15, format: "amount" },
  currency: { maxLength: 3, format: "currency" },
  method: { enum: ["cash","card","transfer","other"] },
  reason: { enum: ["wrong_price","changed_mind","ill","discount","other"] },
} as const

export const DEPOSIT_SETTLEMENT = {
  refund: { maxLength: 15, format: "amount" },
  currency: { maxLength: 3, format: "currency" },
  method: { enum: ["cash","card","transfer","other"] },
  reason: { enum: ["wrong_price","changed_mind","ill","discount","other"] },
} as const

export const CASH_MOVEMENT = {
  direction: { enum: ["in","out"] },
  amount: { maxLength: 15, format: "amount" },
  currency: { maxLength: 3, format: "currency" },
  note: { minLength: 1, maxLength: 500 },
} as const

export const NEW_CLOSING = {
  day: { format: "date" },
  counted: { maxLength: 15, format: "amount" },
  kept: { maxLength: 15, format: "amount" },
  note: { minLength: 1, maxLength: 500 },
  currency: { maxLength: 3, format: "currency" },
} as const

export const SETTINGS_CHANGE = {
  name: { maxLength: 100, format: "single-line" },
  address: { maxLength: 500, format: "multi-line" },
  receiptText: { maxLength: 1000, format: "multi-line" },
  currency: { maxLength: 3, format: "currency" },
  timeZone: { maxLength: 100, format: "time-zone" },
} as const

export const NEW_WEBHOOK = {
  url: { maxLength: 2048, format: "uri" },
  description: { minLength: 1, maxLength: 200 },
  types: { minItems: 1, maxItems: 10, items: { enum: ["pet.created","pet.updated","pet.profile_updated","pet.deleted","order.placed","order.updated","order.completed","order.cancelled","order.expired","order.entry_added"] } },
} as const

export const WEBHOOK_CHANGES = {
  url: { maxLength: 2048, format: "uri" },
  description: { minLength: 1, maxLength: 200 },
  types: { minItems: 1, maxItems: 10, items: { enum: ["pet.created","pet.updated","pet.profile_updated","pet.deleted","order.placed","order.updated","order.completed","order.cancelled","order.expired","order.entry_added"] } },
} as const

export const SECRET_ROTATION = {
  overlapSeconds: { minimum: 0, maximum: 2592000 },
} as const

export const REPLAY = {
  after: { minLength: 1, maxLength: 64, format: "position" },
} as const

export const NEW_API_KEY = {
  name: { minLength: 1, maxLength: 100, pattern: "\\S" },
  scopes: { minItems: 1, maxItems: 9, items: { enum: ["pets:read","pets:write","orders:read","orders:write","till:write","events:read","webhooks:read","webhooks:write","admin"] } },
  rateLimit: { minimum: 1, maximum: 1000000 },
  expiresInSeconds: { minimum: 1, maximum: 315360000 },
} as const

export const API_KEY_CHANGES = {
  name: { minLength: 1, maxLength: 100, pattern: "\\S" },
} as const

export const ROTATION = {
  overlapSeconds: { minimum: 0, maximum: 315360000 },
} as const

export const LIST_PETS = {
  limit: { minimum: 1, maximum: 100 },
  status: { enum: ["available","pending","sold"] },
  categoryId: { minimum: 1, format: "int64" },
  reference: { minLength: 1, maxLength: 100, format: "single-line" },
  id: { maxItems: 100, items: { minimum: 1, format: "int64" } },
  name: { minLength: 1, maxLength: 500 },
  word: { minLength: 1, maxLength: 100 },
  sort: { enum: ["name"] },
  include: { maxItems: 2, items: { enum: ["profile","times"] } },
  cursor: { minLength: 1 },
} as const

export const CREATE_PET = {
  'idempotency-key': { minLength: 1, maxLength: 255 },
} as const

export const GET_PET_COUNT = {
  status: { enum: ["available","pending","sold"] },
  categoryId: { minimum: 1, format: "int64" },
  reference: { minLength: 1, maxLength: 100, format: "single-line" },
  id: { maxItems: 100, items: { minimum: 1, format: "int64" } },
  name: { minLength: 1, maxLength: 500 },
  word: { minLength: 1, maxLength: 100 },
} as const

export const GET_PET = {
  include: { maxItems: 2, items: { enum: ["profile","times"] } },
} as const

export const CHANGE_PETS = {
  'idempotency-key': { minLength: 1, maxLength: 255 },
} as const

export const EXPORT_PETS = {
  format: { enum: ["csv","ndjson"] },
  include: { maxItems: 2, items: { enum: ["profile","times"] } },
  limit: { minimum: 1, maximum: 100000 },
  status: { enum: ["available","pending","sold"] },
  categoryId: { minimum: 1, format: "int64" },
  reference: { minLength: 1, maxLength: 100, format: "single-line" },
  name: { minLength: 1, maxLength: 500 },
  word: { minLength: 1, maxLength: 100 },
  sort: { enum: ["name"] },
} as const

export const GET_PET_HISTORY = {
  limit: { minimum: 1, maximum: 100 },
  cursor: { minLength: 1 },
} as const

export const LIST_PET_PROFILES = {
  petId: { maxItems: 100, items: { minimum: 1, format: "int64" } },
  chipNumber: { minLength: 1, maxLength: 40, pattern: "^[0-9A-Za-z]+$" },
} as const

export const LIST_CATEGORIES = {
  limit: { minimum: 1, maximum: 100 },
  cursor: { minLength: 1 },
} as const

export const PLACE_ORDER = {
  'idempotency-key': { minLength: 1, maxLength: 255 },
} as const

export const LIST_ORDERS = {
  limit: { minimum: 1, maximum: 100 },
  status: { enum: ["open","completed","cancelled","expired"] },
  petId: { minimum: 1, format: "int64" },
  sort: { enum: ["expiresAt","closedAt"] },
  closedFrom: { format: "date-time" },
  closedTo: { format: "date-time" },
  cursor: { minLength: 1 },
} as const

export const REFUND_ORDER = {
  'idempotency-key': { minLength: 1, maxLength: 255 },
} as const

export const SETTLE_DEPOSIT = {
  'idempotency-key': { minLength: 1, maxLength: 255 },
} as const

export const LIST_ENTRIES = {
  limit: { minimum: 1, maximum: 100 },
  orderId: { minimum: 1, format: "int64" },
  petId: { minimum: 1, format: "int64" },
  from: { format: "date" },
  to: { format: "date" },
  cursor: { minLength: 1 },
} as const

export const GET_TOTALS = {
  from: { format: "date" },
  to: { format: "date" },
  by: { enum: ["day","seller","category","method","kind"] },
} as const

export const RECORD_CASH = {
  'idempotency-key': { minLength: 1, maxLength: 255 },
} as const

export const LIST_CLOSINGS = {
  limit: { minimum: 1, maximum: 100 },
  cursor: { minLength: 1 },
} as const

export const GET_FIGURES = {
  days: { minimum: 1, maximum: 90 },
  timeZone: { format: "time-zone" },
} as const

export const LIST_EVENTS = {
  after: { minLength: 1, maxLength: 64 },
  newest: { minimum: 1, maximum: 1000 },
  type: { maxItems: 10, items: { enum: ["pet.created","pet.updated","pet.profile_updated","pet.deleted","order.placed","order.updated","order.completed","order.cancelled","order.expired","order.entry_added"] } },
  petId: { minimum: 1, format: "int64" },
  limit: { minimum: 1, maximum: 1000 },
} as const

export const STREAM_EVENTS = {
  after: { minLength: 1, maxLength: 64 },
  type: { maxItems: 10, items: { enum: ["pet.created","pet.updated","pet.profile_updated","pet.deleted","order.placed","order.updated","order.completed","order.cancelled","order.expired","order.entry_added"] } },
  'last-event-id': { minLength: 1, maxLength: 64 },
} as const

export const LIST_WEBHOOKS = {
  limit: { minimum: 1, maximum: 100 },
  cursor: { minLength: 1 },
} as const

export const LIST_DELIVERIES = {
  limit: { minimum: 1, maximum: 100 },
  outcome: { enum: ["delivered","failed","given_up","skipped"] },
  cursor: { minLength: 1 },
} as const

export const LIST_API_KEYS = {
  limit: { minimum: 1, maximum: 100 },
  cursor: { minLength: 1 },
  kind: { enum: ["program","person"] },
} as const

export const LIST_DEPRECATED_CALLS = {
  limit: { minimum: 1, maximum: 100 },
} as const
