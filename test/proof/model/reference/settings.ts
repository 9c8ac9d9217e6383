// The rules of the settings of the shop: the currency and the time zone stay as they are while an order is open.
import { type ApiKey, type Expected, reject, type Seen, type Settings, type Store } from './store.ts'

type ChangeableName = Exclude<keyof Settings, 'version' | 'currencyDecimals' | 'updatedAt'>
type Change = { [Name in ChangeableName]?: Settings[Name] | undefined }

/** The deposit that an order holds. */
function heldBy({ entries }: Store, orderId: number): bigint {
  const own = entries.filter((entry) => entry.orderId === orderId)
  return own.reduce((held, { paid, sales }) => held + paid - sales, 0n)
}

/** What keeps the currency and the time zone from changing. */
function openMoneyOf(store: Store): { holds: number; deposits: number; days: number } {
  const orders = [...store.orders.values()]
  const lastClosed =
    store.closings
      .map(({ day }) => day)
      .toSorted()
      .at(-1) ?? ''
  return {
    holds: orders.filter(({ status }) => status === 'open').length,
    deposits: orders.filter(({ id }) => heldBy(store, id) !== 0n).length,
    days: new Set(store.entries.map(({ day }) => day).filter((day) => day > lastClosed)).size,
  }
}

function settingsResponse(store: Store, apiKey: ApiKey, seen: Seen): Expected {
  const { settings } = store
  const { version, updatedAt = seen?.['updatedAt'], ...shown } = settings
  const openMoney = apiKey.scopes.includes('admin') ? { openMoney: openMoneyOf(store) } : {}
  return { status: 200, body: { ...shown, updatedAt, ...openMoney }, etag: `"${version}"` }
}

export function getSettings(store: Store, apiKey: ApiKey, seen: Seen): Expected {
  return settingsResponse(store, apiKey, seen)
}

export function updateSettings(
  store: Store,
  apiKey: ApiKey,
  change: Change,
  ifMatch: string | undefined,
  seen: Seen,
): Expected {
  const { settings } = store
  const isExpected = ifMatch === undefined || ifMatch === '*' || ifMatch === `"${settings.version}"`
  if (!isExpected) return reject('precondition_failed')
  const changed = Object.entries(change).filter(
    ([name, value]) => value !== undefined && value !== settings[name as keyof Settings],
  )
  const isOfMoney = changed.some(([name]) => name === 'currency' || name === 'timeZone')
  if (isOfMoney && Object.values(openMoneyOf(store)).some((count) => count > 0)) return reject('money_open')
  if (changed.length > 0) {
    Object.assign(settings, Object.fromEntries(changed), {
      version: settings.version + 1,
      updatedAt: String(seen?.['updatedAt']),
    })
  }
  return settingsResponse(store, apiKey, seen)
}
