// All SQL statements on the settings of the shop. migrations/0011_settings.sql explains the table.
import type { Reader, Tx } from '../../db/database.ts'
import type { OpenMoney } from './schema.ts'

/** The settings of the shop, as they are stored. */
export interface StoredSettings {
  version: number
  updatedAt: Date
  name: string
  address: string
  receiptText: string
  isTaxInvoice: boolean
  currency: string
  timeZone: string
}

const COLUMNS = `version, updated_at as "updatedAt", name, address, receipt_text as "receiptText",
  is_tax_invoice as "isTaxInvoice", currency, time_zone as "timeZone"`

export async function findSettings(db: Reader): Promise<StoredSettings> {
  const rows = await db.read<StoredSettings>({
    name: 'find_settings',
    bounded: 'by a small table',
    text: `select ${COLUMNS} from store_settings`,
    values: [],
  })
  return onlyRow(rows)
}

export async function lockSettings(tx: Tx): Promise<StoredSettings> {
  const rows = await tx.write<StoredSettings>({
    name: 'lock_settings',
    bounded: 'by a small table',
    text: `select ${COLUMNS} from store_settings for update`,
    values: [],
  })
  return onlyRow(rows)
}

/** Stores all settings. The caller has locked them. */
export async function updateSettings(tx: Tx, wanted: StoredSettings): Promise<StoredSettings> {
  const { name, address, receiptText, isTaxInvoice, currency, timeZone } = wanted
  const rows = await tx.write<StoredSettings>({
    name: 'update_settings',
    bounded: 'by a small table',
    text: `update store_settings set version = version + 1, updated_at = statement_timestamp(),
        name = $1, address = $2, receipt_text = $3, is_tax_invoice = $4, currency = $5, time_zone = $6,
        time_zone_since = case when time_zone = $6 then time_zone_since else statement_timestamp() end
      returning ${COLUMNS}`,
    values: [name, address, receiptText, isTaxInvoice, currency, timeZone],
  })
  return onlyRow(rows)
}

function onlyRow([settings]: StoredSettings[]): StoredSettings {
  if (settings === undefined) throw new Error('store_settings has no row; petstore verify says what to do')
  return settings
}

/**
 * Until the transaction ends, no order is placed or closed. Waits for the transactions that do so now. A lock of the table,
 * because a hold then takes none for the settings, which almost never change.
 */
export async function lockOrders(tx: Tx): Promise<void> {
  await tx.write({
    name: 'lock_orders',
    bounded: 'without a table',
    text: 'lock table orders in share mode',
    values: [],
  })
}

/** What keeps the currency and the time zone from changing. */
export async function findOpenMoney(db: Reader): Promise<OpenMoney> {
  const [open] = await db.read<OpenMoney>({
    name: 'find_open_money',
    bounded: 'by a narrow index',
    // An expired order holds nothing, also if it is not swept yet.
    text: `select (
        select count(*) from orders where status = 'open' and expires_at > statement_timestamp()
      )::int as holds, (
        select count(*) from (
          select from entries where moves_deposit group by order_id having sum(paid - sales) <> 0
        ) as held
      )::int as deposits, (
        select count(distinct day) from entries where day > coalesce((select max(day) from day_closings), '-infinity')
      )::int as days`,
    values: [],
  })
  return open ?? { holds: 0, deposits: 0, days: 0 }
}

/** Whether PostgreSQL knows exactly this name. It would accept any text such as `abc5` as an offset. */
export async function isKnownTimeZone(db: Reader, name: string): Promise<boolean> {
  const rows = await db.read({
    name: 'is_known_time_zone',
    bounded: 'without a table',
    text: 'select 1 from pg_timezone_names where name = $1',
    values: [name],
  })
  return rows.length > 0
}

/** False before the migrations, and for a role that only delivers webhooks. */
export async function canReadSettings(db: Reader): Promise<boolean> {
  const [table] = await db.read<{ isReadable: boolean | null }>({
    name: 'can_read_settings',
    bounded: 'without a table',
    text: `select has_table_privilege(to_regclass('store_settings'), 'select') as "isReadable"`,
    values: [],
  })
  return table?.isReadable === true
}
