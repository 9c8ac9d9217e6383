// Days in a shop with their exact totals. Sums are pets/sales/paid.
import { beforeEach, describe, expect, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { untilBlocked } from '../support/database.ts'
import { type Entry, openTillFixture, type TillFixture } from './till-fixture.ts'

const D18 = '2026-11-18'
const D19 = '2026-11-19'
const D20 = '2026-11-20'
const noon = (day: string) => `${day} 11:00:00Z`

let till: TillFixture
beforeEach(async () => {
  till = await openTillFixture()
  await till.settings('EUR', 'Europe/Berlin')
  await till.at(noon(D19))
})

const statusesOf = (responses: { status: number }[]) =>
  responses.map(({ status }) => status).toSorted((one, other) => one - other)

describe('mistakes of a day', () => {
  test('1: a sale made again at the right price, and one undone, leave two sales', async () => {
    const first = await till.sell('45.00')
    const { status } = await till.api.patch(first.petId, { status: 'available' })
    expect(status).toBe(200)
    await till.sell('450.00', { petId: first.petId })
    const undone = await till.sell('13.00')
    const [sale] = (await till.entriesOf(undone.id)) as [Entry]
    expect((await till.voidEntry(sale.id)).status).toBe(200)
    await till.sell('1150.00', { method: 'card' })
    expect(await till.day(D19)).toBe('2/1600.00/1600.00')
    expect(await till.groups('method', D19)).toEqual({ cash: '1/450.00/450.00', card: '1/1150.00/1150.00' })
    expect(await till.groups('kind', D19)).toEqual({
      sale: '4/1658.00/1658.00',
      refund: '-1/-45.00/-45.00',
      void: '-1/-13.00/-13.00',
    })
  })

  test('2: a correction changes the net price once, and keeps the agreed one', async () => {
    const { id } = await till.sell('45.00')
    for (const _ of [1, 2]) expect((await till.correct(id, '450.00')).status).toBe(200)
    expect(await till.day(D19)).toBe('1/450.00/450.00')
    expect(await till.entriesOf(id)).toHaveLength(2)
    expect(await till.getOrder(id)).toMatchObject({ price: '45.00', netPrice: '450.00' })
  })

  test('3: a correction counts for its own day', async () => {
    const { id } = await till.sell('129.00')
    await till.at(noon(D20))
    await till.correct(id, '119.00')
    expect(await till.day(D19)).toBe('1/129.00/129.00')
    expect(await till.day(D20)).toBe('0/-10.00/-10.00')
  })
})

describe('refunds', () => {
  test('4: a pet taken back for its price leaves nothing, and is available', async () => {
    const { id, petId } = await till.sell('200.00')
    expect((await till.refund(id, '200.00', true)).status).toBe(201)
    expect(await till.day(D19)).toBe('0/0.00/0.00')
    expect(await till.petStatus(petId)).toBe('available')
  })

  test('5: a return counts for its own day', async () => {
    await till.at(noon(D18))
    const { id } = await till.sell('200.00')
    await till.at(noon(D19))
    await till.refund(id, '200.00', true)
    expect(await till.day(D18)).toBe('1/200.00/200.00')
    expect(await till.day(D19)).toBe('-1/-200.00/-200.00')
    expect(await till.day(D18, D19)).toBe('0/0.00/0.00')
  })

  test('6: a return for a part keeps the rest', async () => {
    const { id } = await till.sell('129.00')
    await till.refund(id, '100.00', true)
    expect(await till.day(D19)).toBe('0/29.00/29.00')
  })

  test('7: refunds give back at most what was paid', async () => {
    const { id } = await till.sell('45.00')
    await till.correct(id, '450.00')
    await till.refund(id, '50.00')
    expect(await till.day(D19)).toBe('1/400.00/400.00')
    expect(await till.refund(id, '400.01')).toMatchObject({ status: 409, body: { code: 'amount_too_high' } })
    expect((await till.refund(id, '400.00')).status).toBe(201)
    expect(await till.day(D19)).toBe('1/0.00/0.00')
  })

  test('8: a pet taken back without a refund can no longer be corrected', async () => {
    const { id } = await till.sell('129.00')
    await till.refund(id, '0.00', true)
    expect(await till.day(D19)).toBe('0/129.00/129.00')
    expect(await till.correct(id, '119.00')).toMatchObject({ status: 409, body: { code: 'order_not_sold' } })
  })

  test('9: a pet sold again has one net price for each order', async () => {
    const first = await till.sell('129.00', { method: 'card' })
    await till.refund(first.id, '129.00', true)
    const second = await till.sell('99.00', { petId: first.petId })
    expect(await till.day(D19)).toBe('1/99.00/99.00')
    expect((await till.groups('method', D19))['card']).toBe('0/0.00/0.00')
    expect((await till.getOrder(first.id)).netPrice).toBe('0.00')
    expect((await till.getOrder(first.id)).broughtBackAt).toBe('2026-11-19T11:00:00.000Z')
    expect((await till.getOrder(second.id)).netPrice).toBe('99.00')
  })
})

describe('deposits', () => {
  test('10: a deposit is paid on its day, and is sales on the day of the sale', async () => {
    await till.at(noon(D18))
    const { id, deposit } = await till.hold({ deposit: '20.00', method: 'cash' })
    expect(deposit).toBe('20.00')
    await till.at(noon(D19))
    expect(await till.complete(id, '129.00', { method: 'card' })).not.toHaveProperty('deposit')
    expect(await till.day(D18)).toBe('0/0.00/20.00')
    expect(await till.day(D19)).toBe('1/129.00/109.00')
    expect(await till.held(D18)).toBe('20.00')
    expect(await till.held(D19)).toBe('none')
  })

  test('11: a sale below its deposit pays back the rest', async () => {
    const { id } = await till.sell('30.00', { deposit: '50.00' })
    expect((await till.entriesOf(id))[0]).toMatchObject({ kind: 'sale', paid: '-20.00' })
    expect(await till.day(D19)).toBe('1/30.00/30.00')
  })

  test('12: the deposit of a cancelled order is held until it is settled', async () => {
    const { id } = await till.hold({ deposit: '20.00' })
    await till.cancel(id)
    expect(await till.held(D19)).toBe('20.00')
    expect((await till.settle(id, '20.00')).status).toBe(201)
    expect(await till.day(D19)).toBe('0/0.00/0.00')
    expect(await till.settle(id, '0.01')).toMatchObject({ status: 409, body: { code: 'amount_too_high' } })
  })

  test.each([
    ['5.00', 'refund', '0/15.00/15.00'],
    ['0.00', 'forfeit', '0/20.00/20.00'],
  ])('13: what is not given back of an expired hold (%s) becomes sales', async (back, kind, sums) => {
    const { id } = await till.hold({ deposit: '20.00' })
    await till.api.makeOverdue(id)
    expect(await till.settle(id, back)).toMatchObject({ status: 201, body: { kind } })
    expect(await till.day(D19)).toBe(sums)
  })

  test('a deposit that was settled pays no part of a later sale', async () => {
    const { id } = await till.hold({ deposit: '20.00' })
    expect((await till.settle(id, '5.00')).status).toBe(201)
    expect(await till.complete(id, '129.00')).toMatchObject({ netPrice: '144.00' })
    expect(await till.day(D19)).toBe('1/144.00/144.00')
    expect(await till.held(D19)).toBe('none')
  })

  test('14: the void of a sale holds its deposit again', async () => {
    const { id, petId } = await till.sell('129.00', { deposit: '20.00', method: 'card' })
    const [sale] = (await till.entriesOf(id)) as [Entry]
    expect((await till.voidEntry(sale.id)).status).toBe(200)
    expect(await till.day(D19)).toBe('0/0.00/20.00')
    expect(await till.held(D19)).toBe('20.00')
    expect(await till.petStatus(petId)).toBe('available')
    expect((await till.settle(id, '20.00')).status).toBe(201)
    expect(await till.day(D19)).toBe('0/0.00/0.00')
  })
})

describe('at once', () => {
  test('15: a cashier voids the own sale for 15 minutes, and no other one', async () => {
    const [ana, ben] = [await till.keyOf('Ana'), await till.keyOf('Ben')]
    const saleOf = async (apiKey: string) => {
      const { id } = await till.sell('129.00', { apiKey })
      return ((await till.entriesOf(id)) as [Entry])[0]
    }
    const sale = await saleOf(ana)
    await till.at(`${D19} 11:14:59Z`)
    const first = await till.voidEntry(sale.id, { apiKey: ana })
    expect(first).toMatchObject({ status: 200, body: { kind: 'void', voidedEntryId: sale.id } })
    expect(await till.day(D19)).toBe('0/0.00/0.00')
    expect((await till.voidEntry(sale.id, { apiKey: ana })).text).toBe(first.text)
    await till.at(noon(D19))
    const later = await saleOf(ana)
    expect(await till.voidEntry(later.id, { apiKey: ben })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    })
    await till.at(`${D19} 11:15:01Z`)
    expect(await till.voidEntry(later.id, { apiKey: ana })).toMatchObject({
      status: 409,
      body: { code: 'entry_final' },
    })
  })

  test('16: of two returns of a pet, one is paid', async () => {
    const { id } = await till.sell('200.00')
    const returns = await Promise.all([1, 2].map(() => till.refund(id, '200.00', true)))
    expect(statusesOf(returns)).toEqual([201, 409])
    expect(await till.day(D19)).toBe('0/0.00/0.00')
    expect(await till.entriesOf(id)).toHaveLength(2)
  })

  test('17: of two refunds that are too much together, one is paid', async () => {
    const { id } = await till.sell('100.00')
    const refunds = await Promise.all([1, 2].map(() => till.refund(id, '60.00')))
    expect(statusesOf(refunds)).toEqual([201, 409])
    expect(await till.day(D19)).toBe('1/40.00/40.00')
  })

  test('18: a refund sent twice with one key is paid once', async () => {
    const { id } = await till.sell('129.00')
    const first = await till.refund(id, '30.00', false, { key: 'till-1/4' })
    const second = await till.refund(id, '30.00', false, { key: 'till-1/4' })
    expect(second.text).toBe(first.text)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await till.day(D19)).toBe('1/99.00/99.00')
  })

  test('19: a sale and a cancellation at once are one of both', async () => {
    const { id } = await till.hold({ deposit: '20.00' })
    const [sale, cancellation] = await Promise.all([
      till.post(`orders/${id}/complete`, { price: '129.00' }),
      till.post(`orders/${id}/cancel`, undefined),
    ])
    expect(statusesOf([sale, cancellation])).toEqual([200, 409])
    const isSold = sale.status === 200
    expect(await till.day(D19)).toBe(isSold ? '1/129.00/129.00' : '0/0.00/20.00')
    expect(await till.held(D19)).toBe(isSold ? 'none' : '20.00')
  })

  test.each(['void', 'closing'])('20: a void and a closing at once, with the %s first', async (first) => {
    const { id, petId } = await till.sell('129.00')
    const [sale] = (await till.entriesOf(id)) as [Entry]
    const voiding = () => till.voidEntry(sale.id)
    const closing = () => till.close(D19, '129.00', '0.00')
    // Both wait for the lock of the till, in this order.
    const both = await till.api.db.transaction(async (tx) => {
      await tx.read({
        name: 'lock',
        text: `select pg_advisory_xact_lock(hashtext('petstore till'))`,
        values: [],
      })
      const one = first === 'void' ? voiding() : closing()
      await untilBlocked(till.api.databaseUrl, 1)
      const other = first === 'void' ? closing() : voiding()
      await untilBlocked(till.api.databaseUrl, 2)
      return [one, other]
    })
    const [one, other] = (await Promise.all(both)) as [
      Awaited<ReturnType<typeof closing>>,
      Awaited<ReturnType<typeof closing>>,
    ]
    if (first === 'void') {
      expect(one.status).toBe(200)
      expect(other).toMatchObject({ status: 201, body: { expected: '0.00' } })
      expect(await till.day(D19)).toBe('0/0.00/0.00')
      expect(await till.petStatus(petId)).toBe('available')
    } else {
      expect(one).toMatchObject({ status: 201, body: { expected: '129.00' } })
      expect(other).toMatchObject({ status: 409, body: { code: 'entry_final' } })
      expect(await till.day(D19)).toBe('1/129.00/129.00')
      expect(await till.petStatus(petId)).toBe('sold')
    }
  })
})

describe('days', () => {
  test('21: what is sold after a closing counts for the next day', async () => {
    await till.at(`${D19} 17:00:00Z`)
    await till.sell('10.00')
    expect(await till.close(D19, '10.00', '0.00')).toMatchObject({ status: 201, body: { expected: '10.00' } })
    await till.at(`${D19} 17:30:00Z`)
    await till.sell('15.00')
    expect(await till.close(D19, '25.00', '0.00')).toMatchObject({
      status: 409,
      body: { code: 'day_closed' },
    })
    expect(await till.close(D19, '10.00', '0.00')).toMatchObject({ status: 200 })
    await till.at(noon(D20))
    await till.sell('20.00')
    expect((await till.close('2026-11-21', '35.00', '0.00')).status).toBe(400)
    expect(await till.close(D20, '35.00', '0.00')).toMatchObject({ status: 201, body: { expected: '35.00' } })
    expect(await till.day(D19)).toBe('1/10.00/10.00')
    expect(await till.day(D20)).toBe('2/35.00/35.00')
  })

  test.each([
    ['Europe/Berlin', '22:59:59.999Z', '23:00:00Z'],
    ['Pacific/Auckland', '10:59:59.999Z', '11:00:00Z'],
  ])('22: a day ends at midnight in %s', async (timeZone, before, midnight) => {
    await till.settings('EUR', timeZone)
    for (const time of [before, midnight]) {
      await till.at(`${D19} ${time}`)
      await till.sell('10.00')
    }
    for (const day of [D19, D20]) expect(await till.day(day)).toBe('1/10.00/10.00')
  })

  test('22: a void after midnight counts for the day of its entry', async () => {
    await till.at(`${D19} 22:55:00Z`)
    const { id } = await till.sell('60.00')
    const [sale] = (await till.entriesOf(id)) as [Entry]
    await till.at(`${D19} 23:05:00Z`)
    await till.voidEntry(sale.id)
    expect(await till.day(D19)).toBe('0/0.00/0.00')
    expect(await till.day(D20)).toBe('empty')
  })

  test.each([
    [
      'Europe/Berlin',
      [
        '10-24 21:59:59',
        '10-24 22:00:00',
        '10-25 00:30:00',
        '10-25 01:30:00',
        '10-25 22:59:59',
        '10-25 23:00:00',
      ],
      { '2026-10-24': '1/10.00/10.00', '2026-10-25': '4/40.00/40.00', '2026-10-26': '1/10.00/10.00' },
    ],
    [
      'America/Santiago',
      ['04-05 02:30:00', '04-05 03:30:00', '04-05 04:00:00'],
      { '2026-04-04': '2/20.00/20.00', '2026-04-05': '1/10.00/10.00' },
    ],
  ])('23: days of 25 and 23 hours in %s', async (timeZone, times, expected) => {
    await till.settings('EUR', timeZone)
    for (const time of times) {
      await till.at(`2026-${time}Z`)
      await till.sell('10.00')
    }
    const days = Object.keys(expected).toSorted()
    expect(await till.groups('day', days[0] as string, days.at(-1) as string)).toEqual(expected)
  })

  test('24: the closing of a day compares the drawer with the cash', async () => {
    await till.at(`${D18} 17:00:00Z`)
    expect((await till.close(D18, '100.00', '100.00')).status).toBe(201)
    await till.at(noon(D19))
    await till.sell('45.00')
    await till.sell('450.00', { method: 'card' })
    const { id } = await till.sell('63.00')
    await till.refund(id, '13.00')
    await till.hold({ deposit: '20.00', method: 'cash' })
    expect((await till.totals(D19)).drawer).toEqual({ currency: 'EUR', expected: '215.00' })
    expect(await till.close(D19, '213.00', '100.00')).toMatchObject({
      status: 201,
      body: { expected: '215.00', counted: '213.00', difference: '-2.00', kept: '100.00', closedBy: 'Owner' },
    })
    expect(await till.groups('method', D19)).toEqual({ cash: '2/95.00/115.00', card: '1/450.00/450.00' })
    await till.at(noon(D20))
    expect((await till.totals(D20)).drawer).toEqual({ currency: 'EUR', expected: '100.00' })
  })

  test('25: a refund counts for the seller and the category of the sale, and totals for their currency', async () => {
    const [ana, ben] = [await till.keyOf('Ana'), await till.keyOf('Ben', SCOPES)]
    const { id: petId } = await till.api.addPet({ categoryId: 1 })
    const { id } = await till.sell('129.00', { petId, apiKey: ana })
    await till.api.patch(petId, { categoryId: 2 })
    await till.at(noon(D20))
    await till.refund(id, '29.00', false, { apiKey: ben })
    expect(await till.groups('seller', D19, D20)).toEqual({ Ana: '1/100.00/100.00' })
    expect(await till.groups('category', D19, D20)).toEqual({ 1: '1/100.00/100.00' })
    await till.at(noon('2026-11-21'))
    const amounts = { USD: '129.00', JPY: '129', KWD: '1.234' }
    for (const [currency, price] of Object.entries(amounts)) {
      await till.settings(currency, 'Europe/Berlin')
      // Every process reads the settings about once a second.
      await expect
        .poll(() =>
          till.post('orders', { petId: 1, currency }).then(({ body }) => (body as { code: string }).code),
        )
        .not.toBe('currency_mismatch')
      await till.sell(price)
    }
    expect((await till.totals('2026-11-21')).totals).toEqual(
      Object.entries(amounts)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([currency, sales]) => ({ currency, pets: 1, sales, paid: sales })),
    )
  })
})
