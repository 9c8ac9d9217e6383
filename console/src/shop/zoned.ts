// Times in a time zone: as text, and as people type them.
import { shopTimeZone } from './shop.ts'

const MINUTE_MS = 60_000
const formats = new Map<string, Intl.DateTimeFormat>()

/** Making a format takes longer than using it. */
export function formatIn(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = timeZone + JSON.stringify(options)
  const format = formats.get(name) ?? new Intl.DateTimeFormat('en-GB', { ...options, timeZone })
  formats.set(name, format)
  return format
}

/** Returns a function that writes times in the time zone that the shop has when it is called. */
export function inShop(options: Intl.DateTimeFormatOptions): (time: string | number) => string {
  return (time) => formatIn(shopTimeZone(), options).format(new Date(time))
}

/** The time of a clock in the shop, such as "2026-11-21T12:00". NaN if it is none. */
export function readShopTime(local: string): number {
  const asUtc = Date.parse(`${local}Z`)
  if (Number.isNaN(asUtc)) return asUtc
  // The offset before a change of the clocks can differ from the one after it.
  return asUtc - offsetAt(asUtc - offsetAt(asUtc))
}

/** How far the clock of the shop is ahead of UTC. */
function offsetAt(time: number): number {
  const parts = formatIn(shopTimeZone(), {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(time)
  const [year, month, day, hour, minute] = (['year', 'month', 'day', 'hour', 'minute'] as const).map((type) =>
    Number(parts.find((part) => part.type === type)?.value),
  ) as [number, number, number, number, number]
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(time / MINUTE_MS) * MINUTE_MS
}
