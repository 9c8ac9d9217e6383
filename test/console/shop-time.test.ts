// Times in the console are those of the shop, in whatever time zone the browser is.
import { afterEach, describe, expect, test } from 'vitest'
import { calendarDayText, dateText, dateTimeText, dayOf } from '../../console/src/layout/dates.ts'
import { clockText, minutesUntil, timeText } from '../../console/src/layout/hold-time.ts'
import { exactText } from '../../console/src/layout/when-text.ts'
import { currentShop, onShopChange, setShop } from '../../console/src/shop/shop.ts'
import { readShopTime } from '../../console/src/shop/zoned.ts'
import { fieldTime } from '../../console/src/webhooks/failed-messages.ts'

const HOST = currentShop()
afterEach(() => setShop(HOST))
const inZone = (timeZone: string) => setShop({ ...HOST, timeZone })

const EVENING = '2026-11-19T22:30:00.000Z'

test.each([
  ['Europe/Berlin', '2026-11-19', '19 Nov 2026, 23:30', 'Thursday 19 November 2026 at 23:30:00 CET'],
  ['Pacific/Kiritimati', '2026-11-20', '20 Nov 2026, 12:30', 'Friday 20 November 2026 at 12:30:00 GMT+14'],
  ['Pacific/Pago_Pago', '2026-11-19', '19 Nov 2026, 11:30', 'Thursday 19 November 2026 at 11:30:00 GMT-11'],
])('a time in %s is on the day %s', (timeZone, day, text, exact) => {
  inZone(timeZone)
  expect(dayOf(EVENING)).toBe(day)
  expect(dateTimeText(EVENING)).toBe(text)
  expect(dateText(EVENING)).toBe(text.slice(0, -7))
  expect(exactText(EVENING).replace(',', '')).toBe(exact)
  expect(timeText(EVENING)).toBe(text.slice(-5))
  expect(fieldTime(Date.parse(EVENING))).toBe(`${day}T${text.slice(-5)}`)
  // The day of a birth is the same everywhere.
  expect(calendarDayText('2026-08-14')).toBe('14 Aug 2026')
})

test('a hold until tomorrow names the day, as the shop counts days', () => {
  const end = '2026-11-19T23:30:00.000Z'
  inZone('Europe/Berlin')
  expect(clockText(end, Date.parse(EVENING))).toBe('Fri 20 Nov, 00:30')
  inZone('America/New_York')
  expect(clockText(end, Date.parse(EVENING))).toBe('18:30')
})

describe('a time that a person types', () => {
  test.each([
    ['Europe/Berlin', '2026-11-20T12:00', '2026-11-20T11:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-20T12:00', '2026-11-20T06:15:00.000Z'],
    // Before and after the clocks change, and the hour that is missing or comes twice.
    ['Europe/Berlin', '2027-03-28T01:59', '2027-03-28T00:59:00.000Z'],
    ['Europe/Berlin', '2027-03-28T02:30', '2027-03-28T01:30:00.000Z'],
    ['Europe/Berlin', '2027-03-28T03:00', '2027-03-28T01:00:00.000Z'],
    ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00:00.000Z'],
    ['America/Santiago', '2026-04-04T22:00', '2026-04-05T01:00:00.000Z'],
  ])('in %s: %s is %s', (timeZone, local, utc) => {
    inZone(timeZone)
    expect(new Date(readShopTime(local)).toISOString()).toBe(utc)
  })

  test('is the end of a hold', () => {
    inZone('Asia/Tokyo')
    expect(minutesUntil('2026-11-20T08:00', Date.parse(EVENING))).toBe(30)
    expect(minutesUntil('2026-11-20T07:30', Date.parse(EVENING))).toBeUndefined()
    expect(minutesUntil('', Date.parse(EVENING))).toBeUndefined()
  })
})

test('the pages are told of a change once, and of nothing else', () => {
  let told = 0
  const stop = onShopChange(() => {
    told += 1
  })
  const yen = { currency: { code: 'JPY', decimals: 0 }, timeZone: 'Asia/Tokyo' }
  expect([setShop(yen), setShop({ ...yen, currency: { ...yen.currency } })]).toEqual([true, false])
  expect(told).toBe(1)
  stop()
  setShop(HOST)
  expect(told).toBe(1)
})
