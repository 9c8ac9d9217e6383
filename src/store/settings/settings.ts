// Rules for the settings of the shop. The currency and the time zone change only while no money is open: sums would otherwise
// be in two currencies, and a sale on another day.
import { AppError } from '../../contract/errors.ts'
import type { Db, Reader, Tx } from '../../db/database.ts'
import { decimalsOf } from '../../values/money.ts'
import { lockTillAlone } from '../ledger/queries.ts'
import {
  findOpenMoney,
  findSettings,
  isKnownTimeZone,
  lockOrders,
  lockSettings,
  type StoredSettings,
  updateSettings,
} from './queries.ts'
import { describeOpenMoney } from './open-money.ts'
import { CHANGEABLE_NAMES, type OpenMoney, type Settings, type SettingsChange } from './schema.ts'

export type VersionedSettings = Settings & { version: number }

const CHANGED = 'The settings have changed since you read them; read them again and retry with the new ETag.'

/** `withOpenMoney`: only an administrator needs to know it, and it says how much business a shop has. */
export async function getSettings(db: Reader, withOpenMoney: boolean): Promise<VersionedSettings> {
  return toSettings(await findSettings(db), withOpenMoney ? await findOpenMoney(db) : undefined)
}

export interface ChangedSettings {
  settings: VersionedSettings
  /** The changed settings before and after; without any, nothing was written. */
  from: SettingsChange
  to: SettingsChange
}

/** `isExpected`: whether this version satisfies the client's precondition. */
export async function changeSettings(
  db: Db,
  change: SettingsChange,
  isExpected: (version: number) => boolean,
): Promise<ChangedSettings> {
  return db.transaction(async (tx) => {
    const stored = await lockSettings(tx)
    if (!isExpected(stored.version)) throw new AppError('precondition_failed', { message: CHANGED })
    const wanted = { ...stored, ...change }
    const names = CHANGEABLE_NAMES.filter((name) => wanted[name] !== stored[name])
    if (names.includes('timeZone')) await requireKnownTimeZone(tx, wanted.timeZone)
    if (names.includes('timeZone') || names.includes('currency')) await requireNoOpenMoney(tx)
    const settings = names.length === 0 ? stored : await updateSettings(tx, wanted)
    return {
      settings: toSettings(settings, await findOpenMoney(tx)),
      from: pick(stored, names),
      to: pick(settings, names),
    }
  })
}

/** The schema knows the names of JavaScript. Some of them have another case in PostgreSQL, or are missing there. */
async function requireKnownTimeZone(tx: Tx, name: string): Promise<void> {
  if (await isKnownTimeZone(tx, name)) return
  const message = 'timeZone must be the name of a time zone that PostgreSQL knows, such as Europe/Berlin.'
  throw new AppError('invalid_body', { details: [{ field: 'timeZone', code: 'unknown_time_zone', message }] })
}

/** Until the end of the transaction, no money can be opened: the lock waits for transactions that write orders, and stops others. */
async function requireNoOpenMoney(tx: Tx): Promise<void> {
  await lockOrders(tx)
  await lockTillAlone(tx)
  const open = describeOpenMoney(await findOpenMoney(tx))
  if (open === undefined) return
  throw new AppError('money_open', {
    message: `The currency and the time zone cannot change while money is open: ${open}.`,
  })
}

function toSettings(stored: StoredSettings, openMoney: OpenMoney | undefined): VersionedSettings {
  return { ...stored, currencyDecimals: decimalsOf(stored.currency), openMoney }
}

function pick(settings: StoredSettings, names: readonly (keyof SettingsChange)[]): SettingsChange {
  return Object.fromEntries(names.map((name) => [name, settings[name]]))
}
