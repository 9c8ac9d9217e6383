// The client and all public types.
import { type ApiKeys, apiKeysOf } from './api-keys.ts'
import { type CallOptions, type PetstoreOptions, transportOf } from './call.ts'
import { type Categories, categoriesOf } from './categories.ts'
import { type Events, eventsOf } from './events.ts'
import type { Counts, Figures, GetFiguresQuery, HealthReport } from './interface.ts'
import { type Orders, ordersOf } from './orders.ts'
import { type Pets, petsOf } from './pets.ts'
import { type ShopSettings, settingsOf } from './settings.ts'
import { type Till, tillOf } from './till.ts'
import { type WebhookEndpoints, webhooksOf } from './webhook-endpoints.ts'

export type { CallOptions, OnceOptions, PetstoreOptions } from './call.ts'
export type { PutCategoryOptions } from './categories.ts'
export type { Deprecation } from './deprecation.ts'
export type { IgnoredFields } from './ignored-fields.ts'
export { type ClientErrorCode, PetstoreError } from './errors.ts'
export type { EventPage, EventType, OrderEvent } from './store-event.ts'
export type { FollowOptions } from './follow.ts'
export type {
  ApiKey,
  CashMovement,
  Category,
  CategoryName,
  Closing,
  Counts,
  CreatedWebhook,
  DayFigures,
  DaySales,
  Delivery,
  DepositSettlement,
  DeprecatedCall,
  Entry,
  ErrorBody,
  ErrorCode,
  ErrorDetail,
  ExportPetsQuery,
  Figures,
  FutureEvent,
  GetFiguresQuery,
  GetPetHistoryQuery,
  GetTotalsQuery,
  HealthCheck,
  HealthReport,
  HistoryEntry,
  Id,
  IdInput,
  IssuedApiKey,
  ListApiKeysQuery,
  ListCategoriesQuery,
  ListClosingsQuery,
  ListDeliveriesQuery,
  ListDeprecatedCallsQuery,
  ListEntriesQuery,
  ListEventsQuery,
  ListOrdersQuery,
  ListPetProfilesQuery,
  ListPetsQuery,
  ListWebhooksQuery,
  NewApiKey,
  NewClosing,
  NewOrder,
  NewPet,
  NewPetProfile,
  NewWebhook,
  OpenMoney,
  Order,
  OrderCancelledEvent,
  OrderChanges,
  OrderCompletedEvent,
  OrderCompletion,
  OrderCorrection,
  OrderEntryAddedEvent,
  OrderExpiredEvent,
  OrderPlacedEvent,
  OrderRefund,
  OrderUpdatedEvent,
  OwnApiKey,
  Pet,
  PetChange,
  PetChangeItem,
  PetChangeResult,
  PetCreatedEvent,
  PetDeletedEvent,
  PetProfile,
  PetProfileUpdatedEvent,
  PetStatus,
  PetToCreate,
  PetToDelete,
  PetToUpdate,
  PetUpdatedEvent,
  Replay,
  Rotation,
  SecretRotation,
  Settings,
  SettingsChange,
  StoreEvent,
  Totals,
  Webhook,
  WebhookChanges,
  WebhookSecret,
} from './interface.ts'
export type { List, Page } from './lists.ts'
export type { CompleteOptions } from './orders.ts'
export type { PetExport } from './pet-export.ts'
export type { VersionedPet } from './pets.ts'
export type { VersionedPetProfile } from './profiles.ts'
export type { VersionedSettings } from './settings.ts'
export type { IfMatchOptions } from './versions.ts'

export class Petstore {
  readonly pets: Pets
  readonly orders: Orders
  readonly till: Till
  readonly categories: Categories
  readonly settings: ShopSettings
  readonly apiKeys: ApiKeys
  readonly events: Events
  readonly webhooks: WebhookEndpoints
  /** The number of pets by status. */
  readonly inventory: (options?: CallOptions) => Promise<Counts>
  /** How many pets were added and sold on each of the last days, oldest first. */
  readonly figures: (query?: GetFiguresQuery, options?: CallOptions) => Promise<Figures>
  /** What an administrator has to look at. */
  readonly healthReport: (options?: CallOptions) => Promise<HealthReport>

  constructor(options: PetstoreOptions) {
    // The API key stays in this closure, so that logging the client does not reveal it.
    const transport = transportOf(options)
    const { send } = transport
    this.pets = petsOf(send)
    this.orders = ordersOf(send)
    this.till = tillOf(send)
    this.categories = categoriesOf(send)
    this.settings = settingsOf(send)
    this.apiKeys = apiKeysOf(send)
    this.events = eventsOf(transport)
    this.webhooks = webhooksOf(send)
    this.inventory = async (call) => {
      const path = '/store/inventory'
      return (await send({ operation: 'getInventory', method: 'GET', path, idempotent: true }, call)).value
    }
    this.figures = async (query = {}, call) => {
      const path = '/store/figures'
      return (await send({ operation: 'getFigures', method: 'GET', path, query, idempotent: true }, call))
        .value
    }
    this.healthReport = async (call) => {
      const path = '/health-report'
      return (await send({ operation: 'getHealthReport', method: 'GET', path, idempotent: true }, call)).value
    }
  }
}
