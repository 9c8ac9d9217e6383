// JSON schemas of the settings of the shop.
import { type Static, Type } from 'typebox'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'

/** The same limits as in migrations/0011_settings.sql. */
const NAME_LENGTH_MAX = 100
const ADDRESS_LENGTH_MAX = 500
const RECEIPT_TEXT_LENGTH_MAX = 1_000
const CURRENCY_LENGTH = 3
const TIME_ZONE_LENGTH_MAX = 100

/** What an administrator can change. */
const CHANGEABLE_FIELDS = {
  name: Type.String({
    maxLength: NAME_LENGTH_MAX,
    format: 'single-line',
    description: 'Name of the shop, on receipts. Can be empty.',
    examples: ['Paw & Feather'],
  }),
  address: Type.String({
    maxLength: ADDRESS_LENGTH_MAX,
    format: 'multi-line',
    description: 'Address on receipts, in lines. Can be empty.',
    examples: ['Ackerhof 7\n10115 Berlin'],
  }),
  receiptText: Type.String({
    maxLength: RECEIPT_TEXT_LENGTH_MAX,
    format: 'multi-line',
    description: 'Text at the foot of receipts, in lines. Can be empty.',
    examples: ['Thank you!'],
  }),
  isTaxInvoice: Type.Boolean({
    description: 'If false, receipts have the sentence "This is not a tax invoice".',
  }),
  currency: Type.String({
    'x-needs-no-open-money': true,
    format: 'currency',
    maxLength: CURRENCY_LENGTH,
    description:
      'Currency of new prices, a code of ISO 4217. Stored prices keep theirs. Changes only while no money is open.',
    examples: ['EUR'],
  }),
  timeZone: Type.String({
    'x-needs-no-open-money': true,
    format: 'time-zone',
    maxLength: TIME_ZONE_LENGTH_MAX,
    description:
      'Name of the time zone in which the days of the shop begin, as PostgreSQL and JavaScript write it. Changes only while no money is open.',
    examples: ['Europe/Berlin'],
  }),
}

const OpenMoneySchema = Type.Object(
  {
    holds: Type.Integer({ minimum: 0, description: 'Number of open orders.' }),
    deposits: Type.Integer({ minimum: 0, description: 'Number of orders that hold a deposit. Settle them.' }),
    days: Type.Integer({
      minimum: 0,
      description: 'Number of days with entries that are not closed. Close them.',
    }),
  },
  {
    $id: 'OpenMoney',
    description:
      'What keeps the currency and the time zone from changing. If all its numbers are 0, both can change.',
    examples: [{ holds: 6, deposits: 1, days: 1 }],
  },
)
export type OpenMoney = ResponseOf<typeof OpenMoneySchema>

export const SETTINGS_EXAMPLE = {
  name: 'Paw & Feather',
  address: 'Ackerhof 7\n10115 Berlin',
  receiptText: 'Thank you!',
  isTaxInvoice: false,
  currency: 'EUR',
  currencyDecimals: 2,
  timeZone: 'Europe/Berlin',
  updatedAt: '2026-11-15T10:00:00.000Z',
}

export const SettingsSchema = Type.Object(
  {
    ...CHANGEABLE_FIELDS,
    currencyDecimals: Type.Integer({
      minimum: 0,
      maximum: 4,
      description: 'Number of decimal places of an amount in the currency: 2 for EUR, 0 for JPY.',
    }),
    updatedAt: Type.Unsafe<Date>({
      type: 'string',
      format: 'date-time',
      description: 'When a setting last changed.',
    }),
    openMoney: Type.Optional(refTo(OpenMoneySchema)),
  },
  {
    $id: 'Settings',
    description: 'The settings of the shop. `openMoney` is present only for a key with the scope `admin`.',
    examples: [SETTINGS_EXAMPLE],
  },
)
export type Settings = ResponseOf<typeof SettingsSchema>

export const SettingsChangeSchema = Type.Object(
  Object.fromEntries(
    Object.entries(CHANGEABLE_FIELDS).map(([name, schema]) => [name, Type.Optional(schema)]),
  ),
  {
    $id: 'SettingsChange',
    additionalProperties: false,
    description: 'The settings to change. Absent ones stay unchanged.',
    examples: [{ name: 'Paw & Feather', address: 'Ackerhof 7\n10115 Berlin' }],
  },
)
type ChangeableFields = { [Name in keyof typeof CHANGEABLE_FIELDS]: Static<(typeof CHANGEABLE_FIELDS)[Name]> }
export type SettingsChange = Partial<ChangeableFields>
export const SettingsChangeRef = Type.Unsafe<SettingsChange>(refTo(SettingsChangeSchema))
export const CHANGEABLE_NAMES = Object.keys(CHANGEABLE_FIELDS) as (keyof ChangeableFields)[]

export const SETTINGS_SCHEMAS = [OpenMoneySchema, SettingsSchema, SettingsChangeSchema]
