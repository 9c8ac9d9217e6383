// The settings of the shop: how every process follows what is stored, who changes them, and when those of money can change.
import { Client } from 'pg'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openSettings } from '../../src/store/settings/current-settings.ts'
import { openApiFixture } from '../support/api-fixture.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import { countStatements, emptyStore, untilBlocked } from '../support/database.ts'
import { asApplication, asSuperuser } from '../support/roles.ts'
import { openTestLog } from '../support/test-log.ts'

const api = await openApiFixture()

const storeCurrency = (currency: string) => api.sql('update store_settings set currency = $1', [currency])

/** Settings whose clock the test moves, and the number of statements that they sent. */
function openCounted() {
  let time = 0
  const { db, count } = countStatements(api.db)
  const settings = openSettings(db, () => time)
  const pass = (ms: number) => {
    time += ms
  }
  return { settings, count, pass }
}

test('settings are read at most once a second, whatever the number of requests', async () => {
  const { settings, count, pass } = openCounted()
  expect(count()).toBe(0)
  expect(await Promise.all([settings.currency(), settings.currency()])).toEqual(['EUR', 'EUR'])
  pass(999)
  expect(settings.currency()).toBe('EUR')
  expect(count()).toBe(1)
  pass(1)
  expect(await Promise.all([settings.currency(), settings.currency()])).toEqual(['EUR', 'EUR'])
  expect(count()).toBe(2)
})

test('a process follows a change of another process after a second, and its own change at once', async () => {
  const { settings, pass } = openCounted()
  await settings.currency()
  await storeCurrency('JPY')
  expect(settings.currency()).toBe('EUR')
  pass(1_000)
  expect(await settings.currency()).toBe('JPY')
  await storeCurrency('EUR')
  settings.forget()
  expect(await settings.currency()).toBe('EUR')
})

test('a failed read is not believed, and the next request reads again', async () => {
  let isDown = true
  const settings = openSettings({
    read: (statement) => (isDown ? Promise.reject(new Error('down')) : api.db.read(statement)),
  })
  await expect(Promise.all([settings.currency(), settings.currency()])).rejects.toThrow('down')
  isDown = false
  expect(await settings.currency()).toBe('EUR')
})

test('a read that was in flight during a change of this process is not believed', async () => {
  const { promise: isChanged, resolve: onChanged } = Promise.withResolvers<void>()
  const settings = openSettings({
    read: async (statement) => {
      const found = await api.db.read<never>(statement)
      await isChanged
      return found
    },
  })
  const before = settings.currency()
  await storeCurrency('USD')
  settings.forget()
  onChanged()
  expect(await before).toBe('EUR')
  expect(await settings.currency()).toBe('USD')
  await storeCurrency('EUR')
})

const get = () => api.get('/store/settings')
const patch = (body: object, headers: Record<string, string> = {}) =>
  api.call('PATCH', '/v1/store/settings', { body, headers })
const FIRST = {
  name: '',
  address: '',
  receiptText: '',
  isTaxInvoice: false,
  currency: 'EUR',
  currencyDecimals: 2,
  timeZone: 'Europe/Berlin',
  updatedAt: expect.any(String),
  openMoney: { holds: 0, deposits: 0, days: 0 },
}

describe('the operations', () => {
  beforeEach(async () => {
    await emptyStore(api.databaseUrl)
    await api.sql('delete from store_settings')
    await api.sql(`insert into store_settings (time_zone) values ('Europe/Berlin')`)
  })

  test('change the given settings, and return all with their version', async () => {
    expect(await get()).toMatchObject({ status: 200, body: FIRST })
    const shop = {
      name: 'Paw & Feather 🐾',
      address: 'Ackerhof 7\n10115 Berlin',
      receiptText: 'Thank you!\r\nCome again.',
      isTaxInvoice: true,
    }
    const changed = await patch(shop)
    expect(changed).toMatchObject({ status: 200, body: { ...FIRST, ...shop } })
    expect(changed.headers.get('etag')).toBe('"2"')
    expect((await patch({ name: '' })).body).toEqual({ ...FIRST, ...shop, name: '' })
    const read = await get()
    expect(read.body).toEqual({ ...FIRST, ...shop, name: '' })
    expect(read.headers.get('etag')).toBe('"3"')
  })

  test('a change that changes nothing keeps the version and the time', async () => {
    const before = (await patch({ name: 'Paw' })).body
    const same = await patch({ name: 'Paw', currency: 'EUR' })
    expect(same.body).toEqual(before)
    expect(same.headers.get('etag')).toBe('"2"')
  })

  test('a change with the ETag of an earlier version returns 412 and changes nothing', async () => {
    const etag = (await get()).headers.get('etag') ?? ''
    expect(await patch({ name: 'First' }, { 'if-match': etag })).toMatchObject({ status: 200 })
    expect(await patch({ name: 'Second' }, { 'if-match': etag })).toMatchObject({
      status: 412,
      body: { code: 'precondition_failed', message: expect.stringContaining('settings') },
    })
    expect((await get()).body).toMatchObject({ name: 'First' })
  })

  test.each([
    ['currency', 'eur', 'invalid_format'],
    ['currency', null, 'wrong_type'],
    ['timeZone', 'Mars/Olympus', 'unknown_time_zone'],
    ['timeZone', '+02:00', 'unknown_time_zone'],
    // Node knows it in any case.
    ['timeZone', 'europe/berlin', 'unknown_time_zone'],
    ['name', 'x'.repeat(101), 'too_long'],
    ['name', 'two\nlines', 'invalid_text'],
    ['address', 'x'.repeat(501), 'too_long'],
    ['receiptText', 'x'.repeat(1_001), 'too_long'],
    ['isTaxInvoice', 'yes', 'wrong_type'],
    ['version', 9, 'unknown_field'],
  ])('rejects %s %j (400 %s)', async (field, value, code) => {
    expect(await patch({ [field]: value })).toMatchObject({
      status: 400,
      body: { code: 'invalid_body', details: [{ field, code }] },
    })
    expect((await get()).body).toEqual(FIRST)
  })

  test('only an administrator sees what is open', async () => {
    await api.hold()
    expect((await get()).body).toMatchObject({ openMoney: { holds: 1 } })
    const { text: apiKey } = await issueApiKey(api.db, { scopes: ['webhooks:read'] })
    const { openMoney: _, ...shown } = FIRST
    expect((await api.get('/store/settings', { apiKey })).body).toEqual(shown)
    const denied = await api.call('PATCH', '/v1/store/settings', { apiKey, body: { name: 'x' } })
    expect(denied).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
  })

  test.each([{ currency: 'JPY' }, { timeZone: 'Asia/Tokyo' }, { name: 'Paw', currency: 'JPY' }])(
    'keep the currency and the time zone while an order is open (%j)',
    async (change) => {
      const { id } = await api.hold()
      const other = await api.hold()
      expect(await patch(change)).toMatchObject({
        status: 409,
        body: { code: 'money_open', message: expect.stringContaining('2 holds') },
      })
      expect((await get()).body).toEqual({ ...FIRST, openMoney: { holds: 2, deposits: 0, days: 0 } })
      expect((await patch({ name: 'Paw', currency: 'EUR' })).status).toBe(200)
      await api.end('complete', id)
      await api.makeOverdue(other.id)
      expect((await patch(change)).status, 'the day of the sale is open').toBe(409)
      await api.sql(
        'insert into day_closings (day, counted, kept) select till_day(till_now()), 0, 0 from store_settings',
      )
      expect((await patch(change)).status).toBe(200)
    },
  )

  test('a change of the currency applies to the next request of this process', async () => {
    const price = (amount: string) =>
      api.post('/pets', { name: 'Rex', categoryId: 1, profile: { price: amount } })
    expect((await price('129.00')).status).toBe(201)
    const changed = await patch({ currency: 'JPY', timeZone: 'Asia/Tokyo' })
    expect(changed).toMatchObject({ body: { currency: 'JPY', currencyDecimals: 0, timeZone: 'Asia/Tokyo' } })
    expect((await price('129.00')).status).toBe(400)
    expect((await price('129')).status).toBe(201)
    const { body } = await api.get('/pet-profiles?petId=1&petId=2')
    expect(body).toMatchObject([{ currency: 'JPY' }, { currency: 'EUR' }])
  })

  test('the log says who changed what, and nothing if nothing changed', async () => {
    const lines: string[] = []
    const log = openTestLog('info', (line) => lines.push(line))
    const { origin } = await startApp(api.db, { log })
    const logged = openTestClient({ origin, apiKey: (await issueApiKey(api.db, { scopes: ['admin'] })).text })
    const change = { body: { name: 'Paw', timeZone: 'Asia/Tokyo' } }
    for (const _ of [1, 2])
      expect((await logged.call('PATCH', '/v1/store/settings', change)).status).toBe(200)
    const changes = lines.filter((line) => line.includes('settings changed'))
    expect(changes.map((line) => JSON.parse(line) as object)).toMatchObject([
      {
        apiKeyId: expect.anything(),
        from: { name: '', timeZone: 'Europe/Berlin' },
        to: { name: 'Paw', timeZone: 'Asia/Tokyo' },
      },
    ])
  })
})

describe('a hold and a change of the currency at the same time', () => {
  beforeEach(async () => {
    await emptyStore(api.databaseUrl)
    await api.sql(`update store_settings set currency = 'EUR'`)
  })

  test('the change waits for a transaction that places an order, and then finds it', async () => {
    const { id } = await api.addPet()
    const buyer = new Client(asSuperuser(api.databaseUrl))
    await buyer.connect()
    onTestFinished(() => buyer.end())
    await buyer.query('begin')
    await buyer.query(
      `insert into orders (pet_id, placed_by, created_at, expires_at)
        values ($1, (select min(id) from api_keys), now(), now() + interval '1 hour')`,
      [id],
    )
    const changing = patch({ currency: 'JPY' })
    await untilBlocked(api.databaseUrl)
    await buyer.query('commit')
    expect(await changing).toMatchObject({ status: 409, body: { code: 'money_open' } })
  })

  test('an order waits for a change that is not committed yet', async () => {
    const { id } = await api.addPet()
    const changing = new Client(asApplication(api.databaseUrl))
    await changing.connect()
    onTestFinished(() => changing.end())
    await changing.query('begin; lock table orders in share mode')
    const placing = api.post('/store/orders', { petId: id })
    await untilBlocked(api.databaseUrl)
    await changing.query('commit')
    expect(await placing).toMatchObject({ status: 201 })
  })

  test('of 20 rounds of both at once, none ends with an open order and another currency', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { id } = await api.addPet()
      const currency = round % 2 === 0 ? 'JPY' : 'EUR'
      const [change, order] = await Promise.all([
        patch({ currency }),
        api.post('/store/orders', { petId: id }),
      ])
      expect(order.status).toBe(201)
      expect([200, 409]).toContain(change.status)
      const [state] = await api.sql(
        `select updated_at > (select created_at from orders where status = 'open') as late from store_settings`,
      )
      if (change.status === 200) expect(state).toEqual({ late: false })
      await api.end('cancel', (order.body as { id: number }).id)
      await api.sql('update store_settings set currency = $1', [currency])
    }
  })
})
