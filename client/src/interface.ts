// Written by `npm run openapi` from openapi.json; do not edit.

/** An id in a response: all its decimal digits. */
export type Id = string

/** An id in a request: digits, a bigint, or an integer below 2^53. */
export type IdInput = string | number | bigint

/** Availability of a pet. */
export type PetStatus = 'available' | 'pending' | 'sold'

/** The pet to create. `status` defaults to `available`. `profile` is stored together with the pet, as by `putPetProfile`. Other fields are ignored; the header `Petstore-Ignored-Fields` names them. */
export interface NewPet {
  /** Stored exactly as sent. Must not be blank and must be well-formed Unicode without NUL. The length is counted in code points. */
  name: string
  /** Id of the category that the pet belongs to. */
  categoryId: IdInput
  status?: PetStatus | undefined
  profile?: NewPetProfile | undefined
}

/** A pet in the catalogue. Only with `include`, it has more fields than the first four. */
export interface Pet {
  /** Assigned by the service on creation. */
  id: Id
  /** Stored exactly as sent. Must not be blank and must be well-formed Unicode without NUL. The length is counted in code points. */
  name: string
  /** Id of the category that the pet belongs to. */
  categoryId: Id
  status: PetStatus
  profile?: Profile
  /** When the pet was created. Only with `include=times`. */
  createdAt?: string
  /** When the pet or its profile last changed. Only with `include=times`. */
  updatedAt?: string
}

/** Pets, newest first, or sorted by name if `name` or `sort` is given. */
export type Pets = Pet[]

/** The fields of a pet to change. Absent fields stay unchanged. */
export interface PetChange {
  /** Stored exactly as sent. Must not be blank and must be well-formed Unicode without NUL. The length is counted in code points. */
  name?: string | undefined
  /** Id of the category that the pet belongs to. */
  categoryId?: IdInput | undefined
  status?: PetStatus | undefined
  /** Reason for the change, stored in the history. */
  reason?: string | undefined
}

/** The name and category of the pet, and the facts to change: absent ones stay unchanged, and `null` clears one. `status` is that of a new pet, `available` by default: a pet that exists keeps its own. */
export interface PetByReference {
  /** Stored exactly as sent. Must not be blank and must be well-formed Unicode without NUL. The length is counted in code points. */
  name: string
  /** Id of the category that the pet belongs to. */
  categoryId: IdInput
  status?: PetStatus | undefined
  profile?: ProfileChange | undefined
}

/** How many pets match. */
export interface PetCount {
  /** Number of the pets that match, at most 10,000. */
  count: number
  /** True if more pets match than `count`, or can match because the service stopped looking. False if `count` is exact. */
  more: boolean
}

/** The pet to create, as for `createPet`, and its profile, as for `putPetProfile`. */
export interface PetToCreate {
  /** Stored exactly as sent. Must not be blank and must be well-formed Unicode without NUL. The length is counted in code points. */
  name: string
  /** Id of the category that the pet belongs to. */
  categoryId: IdInput
  status?: PetStatus | undefined
  profile?: NewPetProfile | undefined
}

/** The fields of a pet to change, as for `updatePet`. Absent fields stay unchanged. */
export interface PetToUpdate {
  /** Id of the pet. */
  petId: IdInput
  /** Version of the pet as you read it: the number in its `ETag`. If the pet has changed since, the result is 412 and the pet stays unchanged. */
  version?: number | undefined
  /** Stored exactly as sent. Must not be blank and must be well-formed Unicode without NUL. The length is counted in code points. */
  name?: string | undefined
  /** Id of the category that the pet belongs to. */
  categoryId?: IdInput | undefined
  status?: PetStatus | undefined
  /** Reason for the change, stored in the history. */
  reason?: string | undefined
}

/** The pet to delete, as for `deletePet`. */
export interface PetToDelete {
  /** Id of the pet. */
  petId: IdInput
  /** Version of the pet as you read it: the number in its `ETag`. If the pet has changed since, the result is 412 and the pet stays unchanged. */
  version?: number | undefined
}

/** One change: exactly one of `create`, `update` and `delete`. */
export interface PetChangeItem {
  create?: PetToCreate | undefined
  update?: PetToUpdate | undefined
  delete?: PetToDelete | undefined
}

/** The changes to make. */
export interface PetChanges {
  /** The changes. Only one of them can name the same pet. */
  changes: readonly PetChangeItem[]
}

/** What became of a change. With `error`, the pet is unchanged. `pet` is the pet after the change; it is absent if nothing of it has changed, and after a deletion. */
export interface PetChangeResult {
  /** The status that the operation for one pet would return: 201 for a created pet, 200 for an updated one, 204 for a deleted one, or that of an error. */
  status: number
  pet?: Pet
  /** Version of the pet after the change. Present with status 200 and 201. */
  version?: number
  error?: ErrorBody
}

/** The results of the changes. */
export interface PetChangeResults {
  /** One result for each change, in the same order. */
  results: PetChangeResult[]
}

/** A change to a pet. */
export interface HistoryEntry {
  at: string
  event: 'created' | 'updated' | 'order_placed' | 'order_completed' | 'order_cancelled' | 'order_expired' | 'taken_back' | 'sale_voided' | 'return_voided'
  /** The values of the changed fields before the change, also those of the profile. A field that had no value is absent. */
  from?: {
    name?: string
    categoryId?: Id
    status?: 'available' | 'pending' | 'sold'
    /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
    price?: string
    /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
    currency?: string
    /** Must not be blank and must have no control characters. */
    breed?: string
    sex?: 'female' | 'male' | 'unknown'
    /** Date of birth, in or after 1900. Must not be in the future. */
    bornOn?: string
    /** Number of the microchip: letters and digits. Several pets can have the same number. */
    chipNumber?: string
    /** The shop's own id of the pet, compared exactly. No other pet can have the same. Must not be blank and must have no control characters. */
    reference?: string
    /** Plain text. Must not be blank. Of the control characters, it can have only line breaks. */
    description?: string
  }
  /** The values of the changed fields after the change. A field that has no value any more is absent. */
  to?: {
    name?: string
    categoryId?: Id
    status?: 'available' | 'pending' | 'sold'
    /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
    price?: string
    /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
    currency?: string
    /** Must not be blank and must have no control characters. */
    breed?: string
    sex?: 'female' | 'male' | 'unknown'
    /** Date of birth, in or after 1900. Must not be in the future. */
    bornOn?: string
    /** Number of the microchip: letters and digits. Several pets can have the same number. */
    chipNumber?: string
    /** The shop's own id of the pet, compared exactly. No other pet can have the same. Must not be blank and must have no control characters. */
    reference?: string
    /** Plain text. Must not be blank. Of the control characters, it can have only line breaks. */
    description?: string
  }
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. */
  actor: string
  /** Identifies, in the logs, the request that made the change. */
  requestId: string
  reason?: string
}

/** The changes to a pet, newest first. The oldest one is its creation. */
export type History = HistoryEntry[]

/** The price of a pet and facts about it, within the pet. A field without a value is absent. Only with `include=profile`. */
export interface Profile {
  /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
  price?: string
  /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
  currency?: string
  /** Must not be blank and must have no control characters. */
  breed?: string
  sex?: 'female' | 'male' | 'unknown'
  /** Date of birth, in or after 1900. Must not be in the future. */
  bornOn?: string
  /** Number of the microchip: letters and digits. Several pets can have the same number. */
  chipNumber?: string
  /** The shop's own id of the pet, compared exactly. No other pet can have the same. Must not be blank and must have no control characters. */
  reference?: string
  /** Plain text. Must not be blank. Of the control characters, it can have only line breaks. */
  description?: string
}

/** The price of a pet and facts about it. A field without a value is absent. */
export interface PetProfile {
  /** Id of the pet. */
  petId: Id
  /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
  price?: string
  /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
  currency?: string
  /** Must not be blank and must have no control characters. */
  breed?: string
  sex?: 'female' | 'male' | 'unknown'
  /** Date of birth, in or after 1900. Must not be in the future. */
  bornOn?: string
  /** Number of the microchip: letters and digits. Several pets can have the same number. */
  chipNumber?: string
  /** The shop's own id of the pet, compared exactly. No other pet can have the same. Must not be blank and must have no control characters. */
  reference?: string
  /** Plain text. Must not be blank. Of the control characters, it can have only line breaks. */
  description?: string
}

/** The whole profile of a pet: a field that is absent here has no value afterwards. A stored price keeps its currency only if the request has the same `price` and `currency`. */
export interface NewPetProfile {
  /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
  price?: string | undefined
  /** Currency of the price, a code of ISO 4217. Default: the currency of the store. A price in another currency is rejected, unless it is the stored price of the pet or of the order. Required if that one has another currency. */
  currency?: string | undefined
  /** Must not be blank and must have no control characters. */
  breed?: string | undefined
  sex?: 'female' | 'male' | 'unknown' | undefined
  /** Date of birth, in or after 1900. Must not be in the future. */
  bornOn?: string | undefined
  /** Number of the microchip: letters and digits. Several pets can have the same number. */
  chipNumber?: string | undefined
  /** The shop's own id of the pet, compared exactly. No other pet can have the same. Must not be blank and must have no control characters. */
  reference?: string | undefined
  /** Plain text. Must not be blank. Of the control characters, it can have only line breaks. */
  description?: string | undefined
}

/** Profiles, the newest pet first. */
export type PetProfiles = PetProfile[]

/** The facts to change. Absent ones stay unchanged, and `null` clears one. */
export interface ProfileChange {
  /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
  price?: string | null | undefined
  /** Currency of the price, a code of ISO 4217. Default: the currency of the store. A price in another currency is rejected, unless it is the stored price of the pet or of the order. Required if that one has another currency. */
  currency?: string | null | undefined
  /** Must not be blank and must have no control characters. */
  breed?: string | null | undefined
  sex?: 'female' | 'male' | 'unknown' | null | undefined
  /** Date of birth, in or after 1900. Must not be in the future. */
  bornOn?: string | null | undefined
  /** Number of the microchip: letters and digits. Several pets can have the same number. */
  chipNumber?: string | null | undefined
  /** The shop's own id of the pet, compared exactly. No other pet can have the same. Must not be blank and must have no control characters. */
  reference?: string | null | undefined
  /** Plain text. Must not be blank. Of the control characters, it can have only line breaks. */
  description?: string | null | undefined
}

export interface CategoryName {
  /** Name of the category. Must not be blank. The length is counted in code points. */
  name: string
  /** The drawing that the console shows for pets of the category. Absent, it stays unchanged; `null` removes it. Requires the scope `admin`. */
  picture?: 'dog' | 'cat' | 'rabbit' | 'rodent' | 'bird' | 'fish' | 'reptile' | 'snake' | 'tortoise' | 'frog' | 'insect' | 'other' | null | undefined
}

/** A category that has a name or at least one pet, with its pets counted by status. */
export interface Category {
  id: Id
  /** Name of the category. Must not be blank. The length is counted in code points. */
  name?: string
  /** The drawing that the console shows for pets of the category. */
  picture?: 'dog' | 'cat' | 'rabbit' | 'rodent' | 'bird' | 'fish' | 'reptile' | 'snake' | 'tortoise' | 'frog' | 'insect' | 'other'
  counts: Counts
}

/** Categories, sorted by id. */
export type Categories = Category[]

/** The order to place. */
export interface NewOrder {
  /** Id of the pet to hold. */
  petId: IdInput
  /** How long to hold the pet, in minutes. Default: 60, unless the operator has set another default. */
  holdMinutes?: number | undefined
  /** Note for the staff, such as the buyer and the time of pickup. */
  note?: string | undefined
  /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
  price?: string | undefined
  /** Currency of the price, a code of ISO 4217. Default: the currency of the store. A price in another currency is rejected, unless it is the stored price of the pet or of the order. Required if that one has another currency. */
  currency?: string | undefined
  /** Money that the customer pays now, more than 0. A sale settles it; otherwise settle it. Amount as text, with exactly the decimal places of the currency. */
  deposit?: string | undefined
  /** How the money is paid. Console and receipts show it. */
  method?: 'cash' | 'card' | 'transfer' | 'other' | undefined
}

/** The fields to change. Absent ones stay unchanged, and `null` clears the note. */
export interface OrderChanges {
  /** Note for the staff, such as the buyer and the time of pickup. */
  note?: string | null | undefined
  /** When the order expires, unless it is completed or cancelled first: in the future, and at most 10080 minutes from now. Only for an open order. */
  expiresAt?: string | undefined
}

/** How the order ends. Absent fields stay unchanged, and `null` clears the note. */
export interface OrderCompletion {
  /** Note for the staff, such as the buyer and the time of pickup. */
  note?: string | null | undefined
  /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
  price?: string | undefined
  /** Currency of the price, a code of ISO 4217. Default: the currency of the store. A price in another currency is rejected, unless it is the stored price of the pet or of the order. Required if that one has another currency. */
  currency?: string | undefined
  /** How the money is paid. Console and receipts show it. */
  method?: 'cash' | 'card' | 'transfer' | 'other' | undefined
  /** Why. A longer text belongs into the note of the order. */
  reason?: 'wrong_price' | 'changed_mind' | 'ill' | 'discount' | 'other' | undefined
}

/** A hold on a pet, and how it ended. */
export interface Order {
  /** Assigned by the service. */
  id: Id
  /** Id of the pet. */
  petId: Id
  status: 'open' | 'completed' | 'cancelled' | 'expired'
  /** Note for the staff, such as the buyer and the time of pickup. */
  note?: string
  /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
  price?: string
  /** What the sale has brought so far: the price after corrections and refunds. Present once the order was completed. Events of type `order.entry_added` have it, other events do not. */
  netPrice?: string
  /** The deposit that the order holds. Absent without one. Events of type `order.entry_added` have it, other events do not. */
  deposit?: string
  /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
  currency?: string
  /** Present name of the program or person that placed the order. */
  placedBy: string
  /** When the order was placed. */
  createdAt: string
  /** When the order expires, unless it is completed or cancelled first. */
  expiresAt: string
  /** When the order was completed, cancelled or expired. Absent while it is open. */
  closedAt?: string
  /** When the pet came back, or the sale was voided. Absent while the order sells the pet. */
  broughtBackAt?: string
}

/** Orders, newest first, or sorted by the time that `sort` names. */
export type Orders = Order[]

/** An entry of the ledger: one movement of money. Entries are never changed; every total is a sum of entries. */
export interface Entry {
  /** Assigned by the service. */
  id: Id
  /** The order. Absent with the kind `cash`. */
  orderId?: Id
  /** Its pet. */
  petId?: Id
  kind: 'deposit' | 'sale' | 'correction' | 'refund' | 'forfeit' | 'void' | 'cash'
  /** The day of the shop for which the entry counts. After the closing of a day, it is the next one. */
  day: string
  /** When the entry was written. */
  at: string
  /** Money that came into the till; negative if it left the till. */
  paid: string
  /** Net sales: without deposits that are held. */
  sales: string
  /** Net pets sold: negative if pets came back. */
  pets: number
  /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
  currency: string
  /** How the money was paid. Absent if no request said it. */
  method?: 'cash' | 'card' | 'transfer' | 'other'
  /** The category of the pet when it was sold. */
  categoryId?: Id
  /** Whose sale it is: the present name of the person or program. */
  seller?: string
  /** Who wrote the entry: the present name of the person or program. */
  actor?: string
  /** Why. A longer text belongs into the note of the order. */
  reason?: 'wrong_price' | 'changed_mind' | 'ill' | 'discount' | 'other'
  /** What the cash was for. Only with the kind `cash`. */
  note?: string
  /** The entry that this one takes back. Only with the kind `void`. */
  voidedEntryId?: Id
}

/** Entries by day, the newest first. */
export type Entries = Entry[]

/** The right price of a sale. */
export interface OrderCorrection {
  /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
  price: string
  /** Currency of the amount, a code of ISO 4217. Another one than that of the order, or of the shop without an order, is rejected. Default: the right one. */
  currency?: string | undefined
  /** How the money is paid. Default: that of the sale, or that of the deposit before it is sold. */
  method?: 'cash' | 'card' | 'transfer' | 'other' | undefined
  /** Why. A longer text belongs into the note of the order. */
  reason?: 'wrong_price' | 'changed_mind' | 'ill' | 'discount' | 'other' | undefined
}

/** Money back, with or without the pet. */
export interface OrderRefund {
  /** What the customer gets back: at most what was paid. `0.00` only if the pet comes back. Amount as text, with exactly the decimal places of the currency. */
  amount: string
  /** Currency of the amount, a code of ISO 4217. Another one than that of the order, or of the shop without an order, is rejected. Default: the right one. */
  currency?: string | undefined
  /** Whether the pet comes back: it then is available. */
  takeBack: boolean
  /** How the money is paid. Default: that of the sale, or that of the deposit before it is sold. */
  method?: 'cash' | 'card' | 'transfer' | 'other' | undefined
  /** Why. A longer text belongs into the note of the order. */
  reason?: 'wrong_price' | 'changed_mind' | 'ill' | 'discount' | 'other' | undefined
}

/** The end of a deposit. */
export interface DepositSettlement {
  /** What the customer gets back of the deposit. The shop keeps the rest, which becomes sales. Amount as text, with exactly the decimal places of the currency. */
  refund: string
  /** Currency of the amount, a code of ISO 4217. Another one than that of the order, or of the shop without an order, is rejected. Default: the right one. */
  currency?: string | undefined
  /** How the money is paid. Default: that of the sale, or that of the deposit before it is sold. */
  method?: 'cash' | 'card' | 'transfer' | 'other' | undefined
  /** Why. A longer text belongs into the note of the order. */
  reason?: 'wrong_price' | 'changed_mind' | 'ill' | 'discount' | 'other' | undefined
}

/** Cash that is put into the drawer or taken out without a sale. */
export interface CashMovement {
  /** Whether the cash is put into the drawer or taken out. */
  direction: 'in' | 'out'
  /** How much, more than 0. Amount as text, with exactly the decimal places of the currency. */
  amount: string
  /** Currency of the amount, a code of ISO 4217. Another one than that of the order, or of the shop without an order, is rejected. Default: the right one. */
  currency?: string | undefined
  /** What for, such as `change from the bank`. */
  note: string
}

/** A day to close. */
export interface NewClosing {
  /** The day of the shop. Its closing also closes the days before. */
  day: string
  /** The cash that was counted in the drawer. Amount as text, with exactly the decimal places of the currency. */
  counted: string
  /** The part of it that stays in the drawer for the next day. Amount as text, with exactly the decimal places of the currency. */
  kept: string
  /** Why the cash differs, for example. */
  note?: string | undefined
  /** Currency of the amount, a code of ISO 4217. Another one than that of the order, or of the shop without an order, is rejected. Default: the right one. */
  currency?: string | undefined
}

/** A closed day. No later entry counts for it. */
export interface Closing {
  /** The day of the shop. Its closing also closes the days before. */
  day: string
  /** The cash that was counted in the drawer. Amount as text, with exactly the decimal places of the currency. */
  counted: string
  /** The part of it that stays in the drawer for the next day. Amount as text, with exactly the decimal places of the currency. */
  kept: string
  /** Why the cash differs, for example. */
  note?: string
  /** When the day was closed. */
  at: string
  /** Who closed the day: the present name of the person or program. */
  closedBy?: string
  /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
  currency: string
  /** The cash that should have been in the drawer: the cash kept before, and the cash entries since. */
  expected: string
  /** `counted` minus `expected`. */
  difference: string
}

/** Closings, the newest day first. */
export type Closings = Closing[]

/** Sums of the entries of some days of the shop, without cash put in or taken out. */
export interface Totals {
  /** The time zone of the shop, which decides when a day begins. */
  timeZone: string
  /** The day of the shop now. */
  today: string
  /** The first day. */
  from: string
  /** The last day. */
  to: string
  /** The last closed day. Absent if no day is closed. */
  closedThrough?: string
  /** The sums of each currency. Empty without entries. */
  totals: {
    /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
    currency: string
    /** Net pets sold: negative if pets came back. */
    pets: number
    /** Net sales: without deposits that are held. */
    sales: string
    /** Money that came into the till; negative if it left the till. */
    paid: string
  }[]
  /** The same sums for each day, seller, category, method or kind. Only with `by`. */
  groups?: ({
    /** With `by=day`. */
    day?: string
    /** With `by=seller`: the present name. Absent for entries without a seller. */
    seller?: string
    /** With `by=category`. */
    categoryId?: Id
    /** With `by=method`. Absent for entries without a method. */
    method?: 'cash' | 'card' | 'transfer' | 'other'
    /** With `by=kind`. */
    kind?: 'deposit' | 'sale' | 'correction' | 'refund' | 'forfeit' | 'void' | 'cash'
    /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
    currency: string
    /** Net pets sold: negative if pets came back. */
    pets: number
    /** Net sales: without deposits that are held. */
    sales: string
    /** Money that came into the till; negative if it left the till. */
    paid: string
  })[]
  /** The deposits that are held at the end of the last day. */
  deposits: {
    /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
    currency: string
    /** The sum. */
    amount: string
  }[]
  /** Cash put in minus cash taken out on these days. It is in no other sum of this response. */
  cash: {
    /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
    currency: string
    /** The sum. */
    amount: string
  }[]
  /** The cash that should be in the drawer at the end of the last day. Absent if that day is closed. */
  drawer?: {
    /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
    currency: string
    /** The expected cash. */
    expected: string
  }
}

/** Number of pets in each status. */
export interface Counts {
  available: number
  pending: number
  sold: number
}

/** The completed orders of a day. */
export interface DaySales {
  /** Number of orders that were completed. A pet whose status was changed to `sold` without an order is not included. */
  orders: number
  /** How many of these orders have no price. */
  withoutPrice: number
  /** The sum of the prices in each currency. Empty if no order has a price. */
  totals: {
    /** ISO 4217 code of the currency. */
    currency: string
    /** The exact sum, with the decimal places of the currency. */
    amount: string
  }[]
}

/** How many pets were added and sold on a day. `sales` is absent if the API key lacks the scope `orders:read`. */
export interface DayFigures {
  /** The day in the time zone of the request. */
  day: string
  /** Number of pets that were created, including those that were deleted later. */
  added: number
  /** How often the status of a pet changed to `sold`. A pet that was created as `sold` is not included. */
  sold: number
  sales?: DaySales
}

/** How many pets were added and sold on each of the last days. */
export interface Figures {
  /** The time zone of the request. */
  timeZone: string
  /** The figures include no changes before this time. Absent if all days in the response are counted completely. */
  countedSince?: string
  /** One entry per day, oldest first. The last one is today. Days without changes have zeros. */
  days: DayFigures[]
}

/** What keeps the currency and the time zone from changing. If all its numbers are 0, both can change. */
export interface OpenMoney {
  /** Number of open orders. */
  holds: number
  /** Number of orders that hold a deposit. Settle them. */
  deposits: number
  /** Number of days with entries that are not closed. Close them. */
  days: number
}

/** The settings of the shop. `openMoney` is present only for a key with the scope `admin`. */
export interface Settings {
  /** Name of the shop, on receipts. Can be empty. */
  name: string
  /** Address on receipts, in lines. Can be empty. */
  address: string
  /** Text at the foot of receipts, in lines. Can be empty. */
  receiptText: string
  /** If false, receipts have the sentence "This is not a tax invoice". */
  isTaxInvoice: boolean
  /** Currency of new prices, a code of ISO 4217. Stored prices keep theirs. Changes only while no money is open. */
  currency: string
  /** Name of the time zone in which the days of the shop begin, as PostgreSQL and JavaScript write it. Changes only while no money is open. */
  timeZone: string
  /** Number of decimal places of an amount in the currency: 2 for EUR, 0 for JPY. */
  currencyDecimals: number
  /** When a setting last changed. */
  updatedAt: string
  openMoney?: OpenMoney
}

/** The settings to change. Absent ones stay unchanged. */
export interface SettingsChange {
  /** Name of the shop, on receipts. Can be empty. */
  name?: string | undefined
  /** Address on receipts, in lines. Can be empty. */
  address?: string | undefined
  /** Text at the foot of receipts, in lines. Can be empty. */
  receiptText?: string | undefined
  /** If false, receipts have the sentence "This is not a tax invoice". */
  isTaxInvoice?: boolean | undefined
  /** Currency of new prices, a code of ISO 4217. Stored prices keep theirs. Changes only while no money is open. */
  currency?: string | undefined
  /** Name of the time zone in which the days of the shop begin, as PostgreSQL and JavaScript write it. Changes only while no money is open. */
  timeZone?: string | undefined
}

/** A change. New types can be added: ignore events whose `type` you do not know. `pet` and `profile` are complete, as they were after the change. */
export type StoreEvent =
  | PetCreatedEvent
  | PetUpdatedEvent
  | PetProfileUpdatedEvent
  | PetDeletedEvent
  | OrderPlacedEvent
  | OrderUpdatedEvent
  | OrderCompletedEvent
  | OrderCancelledEvent
  | OrderExpiredEvent
  | OrderEntryAddedEvent
  | FutureEvent

/** Events, oldest first. */
export type Events = StoreEvent[]

export interface PetCreatedEvent {
  type: 'pet.created'
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet: Pet
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  changed?: undefined
  profile?: undefined
  order?: undefined
  entry?: undefined
}

export interface PetUpdatedEvent {
  type: 'pet.updated'
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet: Pet
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  /** The fields that changed. */
  changed: ('name' | 'categoryId' | 'status')[]
  profile?: undefined
  order?: undefined
  entry?: undefined
}

export interface PetProfileUpdatedEvent {
  type: 'pet.profile_updated'
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet?: undefined
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  changed?: undefined
  profile: PetProfile
  order?: undefined
  entry?: undefined
}

export interface PetDeletedEvent {
  type: 'pet.deleted'
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet?: undefined
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  changed?: undefined
  profile?: undefined
  order?: undefined
  entry?: undefined
}

export interface OrderPlacedEvent {
  type: 'order.placed'
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet?: undefined
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  changed?: undefined
  profile?: undefined
  order: Order
  entry?: undefined
}

export interface OrderUpdatedEvent {
  type: 'order.updated'
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet?: undefined
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  changed?: undefined
  profile?: undefined
  order: Order
  entry?: undefined
}

export interface OrderCompletedEvent {
  type: 'order.completed'
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet?: undefined
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  changed?: undefined
  profile?: undefined
  order: Order
  entry?: undefined
}

export interface OrderCancelledEvent {
  type: 'order.cancelled'
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet?: undefined
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  changed?: undefined
  profile?: undefined
  order: Order
  entry?: undefined
}

export interface OrderExpiredEvent {
  type: 'order.expired'
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet?: undefined
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  changed?: undefined
  profile?: undefined
  order: Order
  entry?: undefined
}

export interface OrderEntryAddedEvent {
  type: 'order.entry_added'
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet?: undefined
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  changed?: undefined
  profile?: undefined
  order: Order
  entry: Entry
}

/** Has a type that a later version of the service has added. No `type` is the text in parentheses that the discriminator names: it is there for generators of code. */
export interface FutureEvent {
  type: `${string} (a type of a later version)`
  /** The position of the event in the feed. Send it as `after` to read the events that follow. */
  position: string
  /** Time of the change. */
  occurredAt: string
  /** Id of the pet. */
  petId: Id
  pet?: Pet
  /** Present name of the program or person that made the change; `petstore` if the service itself made it. Absent without the scope `orders:read`, and for a change made in SQL. */
  actor?: string
  /** The request that made the change. Absent without the scope `orders:read`, and for a change made in SQL. */
  requestId?: string
  /** The fields that changed. */
  changed?: string[]
  profile?: PetProfile
  order?: Order
  entry?: Entry
}

/** A URL to which the service sends events. See the webhooks of this document for the messages. */
export interface Webhook {
  /** Assigned by the service. */
  id: Id
  /** Where to send the events: an `https:` URL of a public host. */
  url: string
  /** What the webhook is for. */
  description?: string
  /** Types of the events to send. */
  types: string[]
  /** Whether the service delivers to this webhook. */
  enabled: boolean
  /** Why the webhook is disabled: `caller` (by a request), `failing` (only failed attempts for 3 days) or `gone` (the receiver returned 410). New reasons can be added. */
  disabledReason?: string
  /** When the webhook was disabled. Absent while it is enabled. */
  disabledAt?: string
  /** Since when every attempt has failed. Absent after a success. */
  failingSince?: string
  /** When the newest attempt that succeeded ended. Absent if there is none among the deliveries. */
  lastDeliveredAt?: string
  /** All events up to this position of the feed are delivered, given up or wait for a retry. */
  position: string
  /** Number of messages that wait for a retry, with later events of the same pets. */
  waiting: number
  /** When the webhook was created. */
  createdAt: string
}

/** A new webhook with its secret. */
export interface CreatedWebhook {
  /** Assigned by the service. */
  id: Id
  /** Where to send the events: an `https:` URL of a public host. */
  url: string
  /** What the webhook is for. */
  description?: string
  /** Types of the events to send. */
  types: string[]
  /** Whether the service delivers to this webhook. */
  enabled: boolean
  /** Why the webhook is disabled: `caller` (by a request), `failing` (only failed attempts for 3 days) or `gone` (the receiver returned 410). New reasons can be added. */
  disabledReason?: string
  /** When the webhook was disabled. Absent while it is enabled. */
  disabledAt?: string
  /** Since when every attempt has failed. Absent after a success. */
  failingSince?: string
  /** When the newest attempt that succeeded ended. Absent if there is none among the deliveries. */
  lastDeliveredAt?: string
  /** All events up to this position of the feed are delivered, given up or wait for a retry. */
  position: string
  /** Number of messages that wait for a retry, with later events of the same pets. */
  waiting: number
  /** When the webhook was created. */
  createdAt: string
  /** The secret that signs the messages. Only this response contains it. */
  secret: string
}

/** The new secret of a webhook. */
export interface WebhookSecret {
  /** The secret that signs the messages. Only this response contains it. */
  secret: string
}

/** Webhooks, newest first. */
export type Webhooks = Webhook[]

/** The webhook to create. */
export interface NewWebhook {
  /** Where to send the events: an `https:` URL of a public host. */
  url: string
  /** What the webhook is for. */
  description?: string | undefined
  /** Types of the events to send. `order.*` types require the scope `orders:read`. Default: all types that the API key can read. */
  types?: readonly ('pet.created' | 'pet.updated' | 'pet.profile_updated' | 'pet.deleted' | 'order.placed' | 'order.updated' | 'order.completed' | 'order.cancelled' | 'order.expired' | 'order.entry_added')[] | undefined
}

/** The fields to change. */
export interface WebhookChanges {
  /** Where to send the events: an `https:` URL of a public host. */
  url?: string | undefined
  /** What the webhook is for. */
  description?: string | undefined
  /** Types of the events to send. `order.*` types require the scope `orders:read`. Default: all types that the API key can read. */
  types?: readonly ('pet.created' | 'pet.updated' | 'pet.profile_updated' | 'pet.deleted' | 'order.placed' | 'order.updated' | 'order.completed' | 'order.cancelled' | 'order.expired' | 'order.entry_added')[] | undefined
  /** Starts or stops the delivery. Delivery continues where it stopped. */
  enabled?: boolean | undefined
}

export interface SecretRotation {
  /** How long messages are signed with the former secret too, in seconds. */
  overlapSeconds?: number | undefined
}

export interface Replay {
  /** The position after which to send all events again. `latest` skips all events up to the newest one. */
  after: string
}

/** One attempt to deliver a message to a webhook. */
export interface Delivery {
  /** Assigned by the service. */
  id: Id
  /** The header `webhook-id`. Equal for all attempts of a message. */
  messageId: string
  /** Why the message was sent. New kinds can be added. */
  kind: string
  /** Type of the event. */
  type: string
  /** Position of the event. Absent for a test event, and after a new epoch. */
  position?: string
  /** Id of the pet. */
  petId?: Id
  /** Number of this attempt, from 1. */
  attempt: number
  /** `delivered`: the receiver returned 2xx. `failed`: a retry follows. `given_up`: no further retry. `skipped`: nothing was sent, because the event is no longer stored, or the webhook no longer gets events of this type. New outcomes can be added. */
  outcome: string
  /** Status of the response. */
  responseStatus?: number
  /** Why there was no response. */
  failure?: string
  /** Duration of the attempt, in milliseconds. */
  durationMs: number
  /** When the attempt ended. */
  at: string
  /** When the message is sent again, or later while the receiver is down. Present only after the newest attempt of a message that waits for a retry. Absent while the webhook is disabled. */
  nextAttemptAt?: string
}

/** Attempts, newest first. */
export type Deliveries = Delivery[]

/** The API key in the request. */
export interface OwnApiKey {
  id: Id
  /** Present name of the program or person that the key belongs to. A program cannot be named `petstore`, which stands for the service itself. */
  name: string
  /** What the key belongs to: `program` if an operator created the key, `person` if a person signed in. New kinds can be added. */
  kind: string
  /** What the key can do. New scopes can be added. */
  scopes: string[]
  /** When the key expires. Absent if it does not expire. */
  expiresAt?: string
  /** Id of the program or person that the key belongs to. All keys of a person have the same actor, and so have a key and its successors by rotation: they share their `Idempotency-Key`s. */
  actorId: Id
}

/** An API key, without the key itself. */
export interface ApiKey {
  id: Id
  /** Id of the program or person that the key belongs to. All keys of a person have the same actor, and so have a key and its successors by rotation: they share their `Idempotency-Key`s. */
  actorId: Id
  /** Present name of the program or person that the key belongs to. A program cannot be named `petstore`, which stands for the service itself. */
  name: string
  /** What the key belongs to: `program` if an operator created the key, `person` if a person signed in. New kinds can be added. */
  kind: string
  /** Role of the person, for a personal key. Absent if no role has the scopes of the key. New roles can be added. */
  role?: string
  /** What the key can do. New scopes can be added. */
  scopes: string[]
  /** Max requests per second with this key. Default: the rate limit of the service. */
  rateLimit?: number
  createdAt: string
  /** When the key was last used. Updated once a minute. */
  lastUsedAt?: string
  /** When the key expires. Absent if it does not expire. */
  expiresAt?: string
  /** When the key was revoked. Absent if it is not revoked. */
  revokedAt?: string
}

/** A new API key. */
export interface IssuedApiKey {
  id: Id
  /** Id of the program or person that the key belongs to. All keys of a person have the same actor, and so have a key and its successors by rotation: they share their `Idempotency-Key`s. */
  actorId: Id
  /** Present name of the program or person that the key belongs to. A program cannot be named `petstore`, which stands for the service itself. */
  name: string
  /** What the key belongs to: `program` if an operator created the key, `person` if a person signed in. New kinds can be added. */
  kind: string
  /** Role of the person, for a personal key. Absent if no role has the scopes of the key. New roles can be added. */
  role?: string
  /** What the key can do. New scopes can be added. */
  scopes: string[]
  /** Max requests per second with this key. Default: the rate limit of the service. */
  rateLimit?: number
  createdAt: string
  /** When the key was last used. Updated once a minute. */
  lastUsedAt?: string
  /** When the key expires. Absent if it does not expire. */
  expiresAt?: string
  /** When the key was revoked. Absent if it is not revoked. */
  revokedAt?: string
  /** The key itself. Only this response contains it. */
  key: string
}

/** API keys, newest first. */
export type ApiKeys = ApiKey[]

/** How often an API key has called a deprecated operation. */
export interface DeprecatedCall {
  /** Id of the API key. */
  apiKeyId: Id
  /** Present name of the program or person that the key belongs to. */
  actor: string
  /** The deprecated operation, such as `getPet`. */
  operation: string
  /** Number of calls since the operation is deprecated. */
  calls: number
  /** Number of calls in the last 30 days. */
  callsLast30Days: number
  /** Day of the first call, in UTC. */
  firstDay: string
  /** Day of the last call, in UTC. */
  lastDay: string
  /** When the operation will be removed. Absent if this version does not know the operation. */
  removedAt?: string
}

/** Calls of deprecated operations, the most calls in the last 30 days first. */
export type DeprecatedCalls = DeprecatedCall[]

/** The API key to create. `scopes` defaults to `pets:read` and `pets:write`. */
export interface NewApiKey {
  /** Present name of the program or person that the key belongs to. A program cannot be named `petstore`, which stands for the service itself. */
  name: string
  scopes?: readonly ('pets:read' | 'pets:write' | 'orders:read' | 'orders:write' | 'till:write' | 'events:read' | 'webhooks:read' | 'webhooks:write' | 'admin')[] | undefined
  /** Max requests per second with this key. Default: the rate limit of the service. */
  rateLimit?: number | undefined
  /** Lifetime of the key, in seconds. Without it, the key does not expire. */
  expiresInSeconds?: number | undefined
}

export interface ApiKeyChanges {
  /** Present name of the program or person that the key belongs to. A program cannot be named `petstore`, which stands for the service itself. */
  name: string
}

export interface Rotation {
  /** Max seconds that the old key stays valid. It does not outlive its own expiry. */
  overlapSeconds?: number | undefined
}

/** One thing that a shop depends on, and whether it needs a person. */
export interface HealthCheck {
  /** What was checked. `backup`, `secondPlace` (the copy of the backups at another place), `disk` and `certificate` are what `petstore report` last reported; the others are what the database shows: `delivery` whether a process delivers each webhook, `webhooks` whether their receivers work. New checks can be added. */
  name: string
  /** `ok`; `attention`: a person has to do something; `unknown`: nothing was reported, or not lately. */
  state: string
  /** The time that the check is about. `backup` and `secondPlace`: when the newest one was made. `restore`: when a backup was last restored and verified. `certificate`: when it expires. `apiKeys`: when the next key that a program uses expires. `archiving`, `events`, `holds`: since when they have been failing or late. */
  at?: string
  /** When the value was reported. Only for values of `petstore report`. */
  reportedAt?: string
  /** How much of the disk is used. */
  usedBytes?: number
  /** The size of the disk. */
  totalBytes?: number
  /** What was reported with the value, or why the newest check failed. */
  note?: string
}

/** What an administrator has to look at. */
export interface HealthReport {
  /** When the service read the values. */
  checkedAt: string
  /** The version of the service. */
  version: string
  database: {
    /** The version of PostgreSQL. */
    version: string
    /** The size of the database on the disk of its server. */
    sizeBytes: number
  }
  /** A check is absent if it does not apply: `archiving` if PostgreSQL does not archive WAL, `standby` without a standby, `delivery` and `webhooks` without a webhook, `apiKeys` if no key of a program expires. */
  checks: HealthCheck[]
}

/** An order, without its note. */
export interface MessageOrder {
  /** Assigned by the service. */
  id: Id
  /** Id of the pet. */
  petId: Id
  status: 'open' | 'completed' | 'cancelled' | 'expired'
  /** Amount as text, with exactly the decimal places of the currency: `129.00` in EUR, `129` in JPY. At most 10 digits before the point. */
  price?: string
  /** What the sale has brought so far: the price after corrections and refunds. Present once the order was completed. Events of type `order.entry_added` have it, other events do not. */
  netPrice?: string
  /** The deposit that the order holds. Absent without one. Events of type `order.entry_added` have it, other events do not. */
  deposit?: string
  /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
  currency?: string
  /** Present name of the program or person that placed the order. */
  placedBy: string
  /** When the order was placed. */
  createdAt: string
  /** When the order expires, unless it is completed or cancelled first. */
  expiresAt: string
  /** When the order was completed, cancelled or expired. Absent while it is open. */
  closedAt?: string
  /** When the pet came back, or the sale was voided. Absent while the order sells the pet. */
  broughtBackAt?: string
}

/** An entry of the ledger, without its people and its reason. */
export interface MessageEntry {
  /** Assigned by the service. */
  id: Id
  /** The order. Absent with the kind `cash`. */
  orderId?: Id
  /** Its pet. */
  petId?: Id
  kind: 'deposit' | 'sale' | 'correction' | 'refund' | 'forfeit' | 'void' | 'cash'
  /** The day of the shop for which the entry counts. After the closing of a day, it is the next one. */
  day: string
  /** When the entry was written. */
  at: string
  /** Money that came into the till; negative if it left the till. */
  paid: string
  /** Net sales: without deposits that are held. */
  sales: string
  /** Net pets sold: negative if pets came back. */
  pets: number
  /** Currency of the amounts, a code of ISO 4217. Absent without an amount. */
  currency: string
  /** How the money was paid. Absent if no request said it. */
  method?: 'cash' | 'card' | 'transfer' | 'other'
  /** The category of the pet when it was sold. */
  categoryId?: Id
  /** The entry that this one takes back. Only with the kind `void`. */
  voidedEntryId?: Id
}

export interface PetCreatedMessage {
  type: 'pet.created'
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position: string
    /** Id of the pet. */
    petId: Id
    pet: Pet
    changed?: undefined
    profile?: undefined
    order?: undefined
    entry?: undefined
    webhookId?: undefined
  }
}

export interface PetUpdatedMessage {
  type: 'pet.updated'
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position: string
    /** Id of the pet. */
    petId: Id
    pet: Pet
    /** The fields that changed. */
    changed: ('name' | 'categoryId' | 'status')[]
    profile?: undefined
    order?: undefined
    entry?: undefined
    webhookId?: undefined
  }
}

export interface PetProfileUpdatedMessage {
  type: 'pet.profile_updated'
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position: string
    /** Id of the pet. */
    petId: Id
    pet?: undefined
    changed?: undefined
    profile: PetProfile
    order?: undefined
    entry?: undefined
    webhookId?: undefined
  }
}

export interface PetDeletedMessage {
  type: 'pet.deleted'
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position: string
    /** Id of the pet. */
    petId: Id
    pet?: undefined
    changed?: undefined
    profile?: undefined
    order?: undefined
    entry?: undefined
    webhookId?: undefined
  }
}

export interface OrderPlacedMessage {
  type: 'order.placed'
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position: string
    /** Id of the pet. */
    petId: Id
    pet?: undefined
    changed?: undefined
    profile?: undefined
    order: MessageOrder
    entry?: undefined
    webhookId?: undefined
  }
}

export interface OrderUpdatedMessage {
  type: 'order.updated'
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position: string
    /** Id of the pet. */
    petId: Id
    pet?: undefined
    changed?: undefined
    profile?: undefined
    order: MessageOrder
    entry?: undefined
    webhookId?: undefined
  }
}

export interface OrderCompletedMessage {
  type: 'order.completed'
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position: string
    /** Id of the pet. */
    petId: Id
    pet?: undefined
    changed?: undefined
    profile?: undefined
    order: MessageOrder
    entry?: undefined
    webhookId?: undefined
  }
}

export interface OrderCancelledMessage {
  type: 'order.cancelled'
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position: string
    /** Id of the pet. */
    petId: Id
    pet?: undefined
    changed?: undefined
    profile?: undefined
    order: MessageOrder
    entry?: undefined
    webhookId?: undefined
  }
}

export interface OrderExpiredMessage {
  type: 'order.expired'
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position: string
    /** Id of the pet. */
    petId: Id
    pet?: undefined
    changed?: undefined
    profile?: undefined
    order: MessageOrder
    entry?: undefined
    webhookId?: undefined
  }
}

export interface OrderEntryAddedMessage {
  type: 'order.entry_added'
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position: string
    /** Id of the pet. */
    petId: Id
    pet?: undefined
    changed?: undefined
    profile?: undefined
    order: MessageOrder
    entry: MessageEntry
    webhookId?: undefined
  }
}

export interface WebhookTestMessage {
  type: 'webhook.test'
  /** Time of the change. */
  timestamp: string
  data: {
    position?: undefined
    petId?: undefined
    pet?: undefined
    changed?: undefined
    profile?: undefined
    order?: undefined
    entry?: undefined
    /** Id of the webhook. */
    webhookId: Id
  }
}

/** Has a type that a later version of the service has added. No `type` is the text in parentheses that the discriminator names: it is there for generators of code. */
export interface FutureMessage {
  type: `${string} (a type of a later version)`
  /** Time of the change. */
  timestamp: string
  data: {
    /** Position of the event in the feed. */
    position?: string
    /** Id of the pet. */
    petId?: Id
    pet?: Pet
    /** The fields that changed. */
    changed?: string[]
    profile?: PetProfile
    order?: MessageOrder
    entry?: MessageEntry
    /** Id of the webhook. */
    webhookId?: Id
  }
}

/** The body of a message to the URL of a webhook: an event, without its author. New types can be added: return 2xx for types that you do not know. */
export type WebhookMessage =
  | PetCreatedMessage
  | PetUpdatedMessage
  | PetProfileUpdatedMessage
  | PetDeletedMessage
  | OrderPlacedMessage
  | OrderUpdatedMessage
  | OrderCompletedMessage
  | OrderCancelledMessage
  | OrderExpiredMessage
  | OrderEntryAddedMessage
  | WebhookTestMessage
  | FutureMessage

export interface ListPetsQuery {
  /** Max number of items to return. With `id`, the default is 100. */
  limit?: number | undefined
  /** Return only pets with this status. */
  status?: 'available' | 'pending' | 'sold' | undefined
  /** Return only pets in this category. */
  categoryId?: IdInput | undefined
  /** Return only pets with this reference. */
  reference?: string | undefined
  /** Return only these pets. Repeat the parameter for each id. Unknown ids are skipped. Cannot be combined with `cursor`, `name` or `word`. */
  id?: readonly IdInput[] | undefined
  /** Return only pets whose name starts with this text, ignoring case, sorted by name. Cannot be combined with `categoryId` or `id`. */
  name?: string | undefined
  /** Return only pets whose name has a word that starts with this text, ignoring case, newest first. Words are separated by white space, punctuation and symbols. If the text has several words, the name has a word for each of them. Cannot be combined with `name`, `sort` or `id`. A page can have fewer pets than `limit`, or none, although more pets follow: then it has a link `rel="next"`. */
  word?: string | undefined
  /** Sort the pets by name, ignoring case, and then by id, instead of newest first. Cannot be combined with `categoryId`, `id` or `word`. */
  sort?: 'name' | undefined
  /** What to add to each pet, separated by commas: `profile` adds the price of each pet and the facts about it, as `profile`; `times` adds `createdAt` and `updatedAt`. */
  include?: readonly ('profile' | 'times')[] | undefined
  /** Returns the next page. Take it from the link `rel="next"` of the previous page, and send the same filters. There is no link to a previous page: pets that were added since would move to another page. Keep the links that you have followed, or start from `rel="first"`. */
  cursor?: string | undefined
}

export interface GetPetCountQuery {
  /** Return only pets with this status. */
  status?: 'available' | 'pending' | 'sold' | undefined
  /** Return only pets in this category. */
  categoryId?: IdInput | undefined
  /** Return only pets with this reference. */
  reference?: string | undefined
  /** Count only these pets. Repeat the parameter for each id. Unknown ids are skipped. Cannot be combined with `name` or `word`. */
  id?: readonly IdInput[] | undefined
  /** Return only pets whose name starts with this text, ignoring case, sorted by name. Cannot be combined with `categoryId` or `id`. */
  name?: string | undefined
  /** Return only pets whose name has a word that starts with this text, ignoring case, newest first. Words are separated by white space, punctuation and symbols. If the text has several words, the name has a word for each of them. Cannot be combined with `name`, `sort` or `id`. A page can have fewer pets than `limit`, or none, although more pets follow: then it has a link `rel="next"`. */
  word?: string | undefined
}

export interface GetPetQuery {
  /** What to add to each pet, separated by commas: `profile` adds the price of each pet and the facts about it, as `profile`; `times` adds `createdAt` and `updatedAt`. */
  include?: readonly ('profile' | 'times')[] | undefined
}

export interface ExportPetsQuery {
  /** `csv` (RFC 4180, with a header), or `ndjson` (one JSON object per line). */
  format?: 'csv' | 'ndjson' | undefined
  /** What to add to each pet, separated by commas: `profile` adds the price of each pet and the facts about it, as `profile`; `times` adds `createdAt` and `updatedAt`. */
  include?: readonly ('profile' | 'times')[] | undefined
  /** Max number of pets to return. If you get as many, more pets can match. */
  limit?: number | undefined
  /** Return only pets with this status. */
  status?: 'available' | 'pending' | 'sold' | undefined
  /** Return only pets in this category. */
  categoryId?: IdInput | undefined
  /** Return only pets with this reference. */
  reference?: string | undefined
  /** Return only pets whose name starts with this text, ignoring case, sorted by name. Cannot be combined with `categoryId`. */
  name?: string | undefined
  /** Return only pets whose name has a word that starts with this text, as in `listPets`. Cannot be combined with `name` or `sort`. */
  word?: string | undefined
  /** Sort the pets by name, ignoring case, and then by id, instead of newest first. Cannot be combined with `categoryId` or `word`. */
  sort?: 'name' | undefined
}

export interface GetPetHistoryQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Returns the next page. Take it from the link `rel="next"` of the previous page, and send the same filters. There is no link to a previous page: pets that were added since would move to another page. Keep the links that you have followed, or start from `rel="first"`. */
  cursor?: string | undefined
}

export interface ListPetProfilesQuery {
  /** Return the profiles of these pets. Repeat the parameter for each id. Required without `chipNumber`, and cannot be combined with it. */
  petId?: readonly IdInput[] | undefined
  /** Return the profiles that have exactly this chip number. */
  chipNumber?: string | undefined
}

export interface ListCategoriesQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Returns the next page. Take it from the link `rel="next"` of the previous page, and send the same filters. There is no link to a previous page: pets that were added since would move to another page. Keep the links that you have followed, or start from `rel="first"`. */
  cursor?: string | undefined
}

export interface ListOrdersQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Return only orders with this status. */
  status?: 'open' | 'completed' | 'cancelled' | 'expired' | undefined
  /** Return only orders for this pet. Cannot be combined with `sort=closedAt`. */
  petId?: IdInput | undefined
  /** Sort the orders by this field, and then by id, instead of newest first. With `expiresAt`, the order that expires next comes first; requires `status=open`. With `closedAt`, the order that was completed last comes first; requires `status=completed`. */
  sort?: 'expiresAt' | 'closedAt' | undefined
  /** Return only orders that were completed at this time or later. Requires `sort=closedAt`. */
  closedFrom?: string | undefined
  /** Return only orders that were completed before this time. Requires `sort=closedAt`. */
  closedTo?: string | undefined
  /** Returns the next page. Take it from the link `rel="next"` of the previous page, and send the same filters. There is no link to a previous page: pets that were added since would move to another page. Keep the links that you have followed, or start from `rel="first"`. */
  cursor?: string | undefined
}

export interface ListEntriesQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Return only entries of this order. Cannot be combined with `petId`. */
  orderId?: IdInput | undefined
  /** Return only entries of this pet. */
  petId?: IdInput | undefined
  /** Return only entries of this day of the shop or later ones. */
  from?: string | undefined
  /** Return only entries of this day of the shop or earlier ones. */
  to?: string | undefined
  /** Returns the next page. Take it from the link `rel="next"` of the previous page, and send the same filters. There is no link to a previous page: pets that were added since would move to another page. Keep the links that you have followed, or start from `rel="first"`. */
  cursor?: string | undefined
}

export interface GetTotalsQuery {
  /** The first day. Default: the last one. */
  from?: string | undefined
  /** The last day, less than 366 days after the first one. Default: today. */
  to?: string | undefined
  /** Also return sums for each of these. */
  by?: 'day' | 'seller' | 'category' | 'method' | 'kind' | undefined
}

export interface ListClosingsQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Returns the next page. Take it from the link `rel="next"` of the previous page, and send the same filters. There is no link to a previous page: pets that were added since would move to another page. Keep the links that you have followed, or start from `rel="first"`. */
  cursor?: string | undefined
}

export interface GetFiguresQuery {
  /** Number of days to return, including today. */
  days?: number | undefined
  /** Time zone in which a day starts and ends: a name of the IANA database, such as `Europe/Berlin`. */
  timeZone?: string | undefined
}

export interface ListEventsQuery {
  /** Return the events after this position. `latest` stands for the newest event. Default: the start of the feed. */
  after?: string | undefined
  /** Start this many events before the end of the feed, counting events of all types. Cannot be combined with `after`. */
  newest?: number | undefined
  /** Return only events of these types. Repeat the parameter for each type. `order.*` events require the scope `orders:read`. */
  type?: readonly ('pet.created' | 'pet.updated' | 'pet.profile_updated' | 'pet.deleted' | 'order.placed' | 'order.updated' | 'order.completed' | 'order.cancelled' | 'order.expired' | 'order.entry_added')[] | undefined
  /** Return only events of this pet. A page examines at most 10,000 events: it can have fewer than `limit`, or none, although more follow. Follow the `Link` until its `after` stays the same. Cannot be combined with `newest`. */
  petId?: IdInput | undefined
  /** Max number of events to return. */
  limit?: number | undefined
}

export interface StreamEventsQuery {
  /** Return the events after this position. `latest` stands for the newest event. Default: the start of the feed. */
  after?: string | undefined
  /** Return only events of these types. Repeat the parameter for each type. `order.*` events require the scope `orders:read`. */
  type?: readonly ('pet.created' | 'pet.updated' | 'pet.profile_updated' | 'pet.deleted' | 'order.placed' | 'order.updated' | 'order.completed' | 'order.cancelled' | 'order.expired' | 'order.entry_added')[] | undefined
}

export interface ListWebhooksQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Returns the next page. Take it from the link `rel="next"` of the previous page, and send the same filters. There is no link to a previous page: pets that were added since would move to another page. Keep the links that you have followed, or start from `rel="first"`. */
  cursor?: string | undefined
}

export interface ListDeliveriesQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Return only attempts with this outcome. */
  outcome?: 'delivered' | 'failed' | 'given_up' | 'skipped' | undefined
  /** Returns the next page. Take it from the link `rel="next"` of the previous page, and send the same filters. There is no link to a previous page: pets that were added since would move to another page. Keep the links that you have followed, or start from `rel="first"`. */
  cursor?: string | undefined
}

export interface ListApiKeysQuery {
  /** Max number of items to return. */
  limit?: number | undefined
  /** Returns the next page. Take it from the link `rel="next"` of the previous page, and send the same filters. There is no link to a previous page: pets that were added since would move to another page. Keep the links that you have followed, or start from `rel="first"`. */
  cursor?: string | undefined
  /** Return only keys of this kind. */
  kind?: 'program' | 'person' | undefined
}

export interface ListDeprecatedCallsQuery {
  /** Max number of items to return. */
  limit?: number | undefined
}

/** The error codes of this version of the service. */
export type ErrorCode =
  | 'missing_body'
  | 'invalid_json'
  | 'invalid_body'
  | 'invalid_parameter'
  | 'unknown_parameter'
  | 'invalid_cursor'
  | 'unknown_category'
  | 'currency_mismatch'
  | 'malformed_request'
  | 'missing_api_key'
  | 'invalid_api_key'
  | 'insufficient_scope'
  | 'sign_in_rejected'
  | 'route_not_found'
  | 'pet_not_found'
  | 'order_not_found'
  | 'entry_not_found'
  | 'api_key_not_found'
  | 'webhook_not_found'
  | 'delivery_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'idempotency_key_in_use'
  | 'pet_not_available'
  | 'pet_on_hold'
  | 'pet_has_orders'
  | 'reference_in_use'
  | 'invalid_transition'
  | 'order_closed'
  | 'order_not_sold'
  | 'amount_too_high'
  | 'entry_final'
  | 'day_closed'
  | 'money_open'
  | 'too_many_webhooks'
  | 'webhook_disabled'
  | 'webhook_busy'
  | 'operation_removed'
  | 'events_expired'
  | 'sign_in_expired'
  | 'precondition_failed'
  | 'category_exists'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'unavailable'
  | 'overloaded'
  | 'outcome_unknown'

/** One problem in a request. */
export interface ErrorDetail {
  field: string
  /** Machine-readable. The examples list all current codes; new codes can be added. */
  code: string
  message: string
}

/** An error as the service returns it. */
export interface ErrorBody {
  /** Machine-readable. The meaning of a code never changes. The examples list all current codes; new codes can be added. */
  code: string
  /** Human-readable. The wording can change. */
  message: string
  /** The HTTP status code of the response. */
  status: number
  /** Every invalid field, parameter or header of the request. */
  details?: ErrorDetail[]
}

/** All operations, with their paths, request types and response types. */
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
  getPetCount: {
    method: 'GET'
    path: '/pet-count'
    query: GetPetCountQuery
    body: undefined
    response: PetCount
  }
  getPet: {
    method: 'GET'
    path: `/pets/${string}`
    query: GetPetQuery
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
  putPetByReference: {
    method: 'PUT'
    path: `/pets/by-reference/${string}`
    query: undefined
    body: PetByReference
    response: Pet
  }
  changePets: {
    method: 'POST'
    path: '/pet-changes'
    query: undefined
    body: PetChanges
    response: PetChangeResults
  }
  exportPets: {
    method: 'GET'
    path: '/pet-export'
    query: ExportPetsQuery
    body: undefined
    response: AsyncIterable<Uint8Array>
  }
  getPetHistory: {
    method: 'GET'
    path: `/pets/${string}/history`
    query: GetPetHistoryQuery
    body: undefined
    response: History
  }
  getPetProfile: {
    method: 'GET'
    path: `/pets/${string}/profile`
    query: undefined
    body: undefined
    response: PetProfile
  }
  putPetProfile: {
    method: 'PUT'
    path: `/pets/${string}/profile`
    query: undefined
    body: NewPetProfile
    response: PetProfile
  }
  listPetProfiles: {
    method: 'GET'
    path: '/pet-profiles'
    query: ListPetProfilesQuery
    body: undefined
    response: PetProfiles
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
  updateOrder: {
    method: 'PATCH'
    path: `/store/orders/${string}`
    query: undefined
    body: OrderChanges
    response: Order
  }
  completeOrder: {
    method: 'POST'
    path: `/store/orders/${string}/complete`
    query: undefined
    body: OrderCompletion
    response: Order
  }
  cancelOrder: {
    method: 'POST'
    path: `/store/orders/${string}/cancel`
    query: undefined
    body: undefined
    response: Order
  }
  correctOrder: {
    method: 'POST'
    path: `/store/orders/${string}/correct`
    query: undefined
    body: OrderCorrection
    response: Order
  }
  refundOrder: {
    method: 'POST'
    path: `/store/orders/${string}/refund`
    query: undefined
    body: OrderRefund
    response: Entry
  }
  settleDeposit: {
    method: 'POST'
    path: `/store/orders/${string}/settle-deposit`
    query: undefined
    body: DepositSettlement
    response: Entry
  }
  listEntries: {
    method: 'GET'
    path: '/store/entries'
    query: ListEntriesQuery
    body: undefined
    response: Entries
  }
  voidEntry: {
    method: 'POST'
    path: `/store/entries/${string}/void`
    query: undefined
    body: undefined
    response: Entry
  }
  getTotals: {
    method: 'GET'
    path: '/store/totals'
    query: GetTotalsQuery
    body: undefined
    response: Totals
  }
  recordCash: {
    method: 'POST'
    path: '/store/cash'
    query: undefined
    body: CashMovement
    response: Entry
  }
  closeDay: {
    method: 'POST'
    path: '/store/day-closings'
    query: undefined
    body: NewClosing
    response: Closing
  }
  listClosings: {
    method: 'GET'
    path: '/store/day-closings'
    query: ListClosingsQuery
    body: undefined
    response: Closings
  }
  getInventory: {
    method: 'GET'
    path: '/store/inventory'
    query: undefined
    body: undefined
    response: Counts
  }
  getFigures: {
    method: 'GET'
    path: '/store/figures'
    query: GetFiguresQuery
    body: undefined
    response: Figures
  }
  getSettings: {
    method: 'GET'
    path: '/store/settings'
    query: undefined
    body: undefined
    response: Settings
  }
  updateSettings: {
    method: 'PATCH'
    path: '/store/settings'
    query: undefined
    body: SettingsChange
    response: Settings
  }
  listEvents: {
    method: 'GET'
    path: '/events'
    query: ListEventsQuery
    body: undefined
    response: Events
  }
  streamEvents: {
    method: 'GET'
    path: '/events/stream'
    query: StreamEventsQuery
    body: undefined
    response: undefined
  }
  listWebhooks: {
    method: 'GET'
    path: '/webhooks'
    query: ListWebhooksQuery
    body: undefined
    response: Webhooks
  }
  createWebhook: {
    method: 'POST'
    path: '/webhooks'
    query: undefined
    body: NewWebhook
    response: CreatedWebhook
  }
  getWebhook: {
    method: 'GET'
    path: `/webhooks/${string}`
    query: undefined
    body: undefined
    response: Webhook
  }
  updateWebhook: {
    method: 'PATCH'
    path: `/webhooks/${string}`
    query: undefined
    body: WebhookChanges
    response: Webhook
  }
  deleteWebhook: {
    method: 'DELETE'
    path: `/webhooks/${string}`
    query: undefined
    body: undefined
    response: undefined
  }
  rotateWebhookSecret: {
    method: 'POST'
    path: `/webhooks/${string}/rotate-secret`
    query: undefined
    body: SecretRotation
    response: WebhookSecret
  }
  testWebhook: {
    method: 'POST'
    path: `/webhooks/${string}/test`
    query: undefined
    body: undefined
    response: Webhook
  }
  replayWebhook: {
    method: 'POST'
    path: `/webhooks/${string}/replay`
    query: undefined
    body: Replay
    response: Webhook
  }
  listDeliveries: {
    method: 'GET'
    path: `/webhooks/${string}/deliveries`
    query: ListDeliveriesQuery
    body: undefined
    response: Deliveries
  }
  redeliver: {
    method: 'POST'
    path: `/webhooks/${string}/deliveries/${string}/redeliver`
    query: undefined
    body: undefined
    response: Webhook
  }
  getOwnApiKey: {
    method: 'GET'
    path: '/api-keys/self'
    query: undefined
    body: undefined
    response: OwnApiKey
  }
  revokeOwnApiKey: {
    method: 'DELETE'
    path: '/api-keys/self'
    query: undefined
    body: undefined
    response: undefined
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
  listDeprecatedCalls: {
    method: 'GET'
    path: '/api-keys/deprecated-calls'
    query: ListDeprecatedCallsQuery
    body: undefined
    response: DeprecatedCalls
  }
  updateApiKey: {
    method: 'PATCH'
    path: `/api-keys/${string}`
    query: undefined
    body: ApiKeyChanges
    response: ApiKey
  }
  revokeApiKey: {
    method: 'DELETE'
    path: `/api-keys/${string}`
    query: undefined
    body: undefined
    response: undefined
  }
  rotateApiKey: {
    method: 'POST'
    path: `/api-keys/${string}/rotate`
    query: undefined
    body: Rotation
    response: IssuedApiKey
  }
  getHealthReport: {
    method: 'GET'
    path: '/health-report'
    query: undefined
    body: undefined
    response: HealthReport
  }
}
