// Every feature with operations under /v1: its schemas and its operations, in the order of openapi.json.
import type { TSchema } from 'typebox'
import { API_KEYS } from '../access/api-keys/routes.ts'
import { EVENTS } from '../events/feed/routes.ts'
import { DELIVERIES } from '../events/webhooks/delivery-routes.ts'
import { WEBHOOKS } from '../events/webhooks/routes.ts'
import type { V1 } from '../http/operation.ts'
import { CATEGORIES } from '../store/categories/routes.ts'
import { FIGURES } from '../store/figures/routes.ts'
import { HISTORY } from '../store/history/routes.ts'
import { INVENTORY } from '../store/inventory/routes.ts'
import { ORDERS } from '../store/orders/routes.ts'
import { PET_CHANGES } from '../store/pet-changes/routes.ts'
import { PET_EXPORT } from '../store/pet-export/routes.ts'
import { PETS } from '../store/pets/routes.ts'
import { TILL } from '../store/till/routes.ts'
import { PROFILES } from '../store/profiles/routes.ts'
import { SETTINGS } from '../store/settings/routes.ts'
import { HEALTH } from './health/routes.ts'

const FEATURES = [
  PETS,
  PET_CHANGES,
  PET_EXPORT,
  HISTORY,
  PROFILES,
  CATEGORIES,
  ORDERS,
  TILL,
  INVENTORY,
  FIGURES,
  SETTINGS,
  EVENTS,
  WEBHOOKS,
  DELIVERIES,
  API_KEYS,
  HEALTH,
]

type AddOperation = (typeof FEATURES)[number]['operations'][number]

/** What the operations of all features need: everything that one of them needs. */
export type Services = AddOperation extends (app: V1, services: infer All) => void ? All : never

export const SCHEMAS = FEATURES.flatMap<TSchema & object>(({ schemas }) => schemas)
export const OPERATIONS = FEATURES.flatMap<(app: V1, services: Services) => void>(
  ({ operations }) => operations,
)
