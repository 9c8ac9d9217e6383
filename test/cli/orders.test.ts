import { expect, test } from 'vitest'
import type { Order } from '../support/api-fixture.ts'
import { runInProcess } from '../support/in-process.ts'
import { behindFaultInjector, cellsOf, openCliFixture } from './fixture.ts'

const cli = await openCliFixture()
const { run, json, api } = cli

const HEADS = ['ID', 'STATUS', 'PET', 'PRICE', 'PLACED', 'HELD UNTIL', 'ENDED', 'PLACED BY', 'NOTE']
const MINUTE_MS = 60_000

/** A time as the table shows it in the time zone UTC. */
const minute = (instant: string | undefined) => instant?.slice(0, 16).replace('T', ' ') ?? '-'

function rowOf(order: Order): string[] {
  const { id, status, petId, price, currency, createdAt, expiresAt, closedAt, placedBy, note } = order
  const times = [createdAt, expiresAt, closedAt].map(minute)
  const shownPrice = price === undefined ? '-' : `${price} ${currency}`
  return [String(id), status, String(petId), shownPrice, ...times, placedBy, note ?? '-']
}

test('place prints only the id, get shows the order, complete sells the pet', async () => {
  const pet = await api.addPet()
  const note = 'Ms Okafor, comes at noon'
  const placed = await run('orders', 'place', String(pet.id), '--hold-minutes', '30', '--note', note)
  expect(placed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[1-9][0-9]*\n$/) })
  const id = placed.stdout.trim()
  const order = (await json('orders', 'get', id)) as Order
  expect(order).toMatchObject({ id: Number(id), petId: pet.id, status: 'open', note, placedBy: 'staff' })
  expect(Date.parse(order.expiresAt) - Date.parse(order.createdAt)).toBe(30 * MINUTE_MS)
  expect(placed.stderr).toBe(`Held pet ${pet.id} until ${minute(order.expiresAt)}. Order id:\n`)
  expect(cellsOf((await run('orders', 'get', id)).stdout)).toEqual([HEADS, rowOf(order)])

  const other = await run('orders', 'place', String(pet.id))
  expect(other).toMatchObject({ code: 1, stdout: '' })
  expect(other.stderr).toMatch(
    /^The pet is not available: it is pending\.\n\(pet_not_available, request \S+\)\n$/,
  )

  const sold = await run('orders', 'complete', id, '--note', 'Ms Okafor')
  const { closedAt, note: buyer } = (await json('orders', 'complete', id)) as Order
  expect(buyer).toBe('Ms Okafor')
  expect(sold).toMatchObject({ code: 0, stdout: '' })
  expect(sold.stderr).toBe(`Order ${id} is completed: pet ${pet.id} was sold at ${minute(closedAt)}.\n`)
  expect((await api.findPet(pet.id))?.status).toBe('sold')
})

test('update changes the note and the end of a hold, and shows the order', async () => {
  const { id } = await api.hold({ note: 'Ms Okafor' })
  const at = new Date(Date.now() + 3 * 3_600_000).toISOString()
  const changed = await run('orders', 'update', String(id), '--note', 'Mr Lind', '--expires-at', at)
  const order = (await json('orders', 'get', String(id))) as Order
  expect(order).toMatchObject({ note: 'Mr Lind', expiresAt: at })
  expect(changed).toMatchObject({ code: 0, stderr: '' })
  expect(cellsOf(changed.stdout)).toEqual([HEADS, rowOf(order)])

  const before = Date.now()
  const longer = (await json('orders', 'update', String(id), '--clear-note', '--hold-minutes', '30')) as Order
  expect(longer).not.toHaveProperty('note')
  const held = Date.parse(longer.expiresAt)
  expect(held).toBeGreaterThanOrEqual(before + 30 * MINUTE_MS)
  expect(held).toBeLessThanOrEqual(Date.now() + 30 * MINUTE_MS)
})

test.each([
  [[], 'give at least one of --note, --clear-note, --expires-at and --hold-minutes'],
  [['--note', 'x', '--clear-note'], "option '--clear-note' cannot be used with option '--note <text>'"],
  [['--expires-at', '2026-11-15T12:00:00Z', '--hold-minutes', '5'], 'cannot be used with option'],
])('update rejects the options %j', async (options, message) => {
  const { code, stderr } = await run('orders', 'update', '7', ...options)
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
})

test('cancel releases the pet; complete fails for a cancelled order, and get for an unknown one', async () => {
  const { id, petId } = await api.hold()
  const { code, stdout, stderr } = await run('orders', 'cancel', String(id))
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).toMatch(
    new RegExp(`^Order ${id} is cancelled: pet ${petId} was released at [-0-9]+ [:0-9]+\\.\n$`),
  )
  expect((await api.findPet(petId))?.status).toBe('available')
  expect(await json('orders', 'cancel', String(id))).toMatchObject({ id, status: 'cancelled' })

  const closed = await run('orders', 'complete', String(id))
  expect(closed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('(order_closed, ') })
  const none = await run('orders', 'get', '999999')
  expect(none).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('No order has this id.'),
  })
})

test('list filters by pet and by status, as a table and as JSON', async () => {
  const { run: list, json: listJson, injector } = await behindFaultInjector(cli)
  const { id: petId } = await api.addPet()
  for (let n = 0; n < 3; n += 1) await api.end('cancel', (await api.hold({ petId })).id)
  const open = await api.hold({ petId, note: 'three: \u001b[2J' })
  const all = (await listJson('orders', 'list', '--pet', String(petId))) as Order[]
  expect(all.map(({ status }) => status)).toEqual(['open', 'cancelled', 'cancelled', 'cancelled'])
  expect(all[0]).toEqual(open)
  const table = await list('orders', 'list', '--pet', String(petId), '--status', 'cancelled', '--limit', '2')
  expect(cellsOf(table.stdout)).toEqual([HEADS, ...all.slice(1, 3).map(rowOf)])
  expect(table.stderr).toContain('More entries exist')
  expect((await list('orders', 'list', '--status', 'open', '--all')).stdout).toContain('three: \\u001b[2J\n')
  expect(injector.seen.map(({ path }) => Object.fromEntries(new URL(path, 'http://x').searchParams))).toEqual(
    [
      { petId: String(petId), limit: '20' },
      { petId: String(petId), status: 'cancelled', limit: '2' },
      { status: 'open', limit: '100' },
    ],
  )
})

test('--price sets the price when an order is placed, and replaces it when the order is completed', async () => {
  const { id: petId } = await api.addPet()
  const placed = (await json('orders', 'place', String(petId), '--price', '129.00')) as Order
  expect(placed).toMatchObject({ price: '129.00', currency: 'EUR' })
  const sold = (await json('orders', 'complete', String(placed.id), '--price', '119.00')) as Order
  expect(sold).toMatchObject({ status: 'completed', price: '119.00' })
  const sales = ['orders', 'list', '--status', 'completed', '--sort', 'closedAt', '--limit', '1']
  expect(cellsOf((await run(...sales)).stdout)).toEqual([HEADS, rowOf(sold)])
  const { closedAt = '' } = sold
  expect(await json(...sales, '--closed-from', closedAt)).toEqual([sold])
  expect(await json(...sales, '--closed-from', closedAt, '--closed-to', closedAt)).toEqual([])
  const wrong = await run('orders', 'complete', String((await api.hold()).id), '--price', '119')
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('such as 129.00') })
})

test('place creates one order if it is run twice with the same --idempotency-key', async () => {
  const { id: petId } = await api.addPet()
  const args = ['orders', 'place', String(petId), '--idempotency-key', 'staff-1']
  const placed = (await json(...args)) as Order
  expect(await json(...args)).toEqual(placed)
  expect(await api.sql('select id::int from orders where pet_id = $1', [petId])).toEqual([{ id: placed.id }])
})

test('times are in the time zone of the terminal', async () => {
  const { id, createdAt } = await api.hold()
  const { environment } = cli
  const ahead = { ...environment, TZ: 'Asia/Kathmandu' }
  const { stdout } = await runInProcess(['orders', 'get', String(id)], ahead)
  const there = new Date(Date.parse(createdAt) + (5 * 60 + 45) * MINUTE_MS).toISOString()
  expect(cellsOf(stdout)[1]?.[4]).toBe(minute(there))
})

test('inventory counts pets by status, as a table and as JSON', async () => {
  await api.end('complete', (await api.hold()).id)
  const counts = (await api.get('/store/inventory')).body as Record<string, number>
  expect(counts['sold']).toBeGreaterThan(0)
  expect(await json('inventory')).toEqual(counts)
  const { stdout } = await run('inventory')
  expect(stdout.split('\n').map((line) => line.split(/ +/))).toEqual([
    ['STATUS', 'PETS'],
    ...Object.entries(counts).map(([status, count]) => [status, String(count)]),
    [''],
  ])
})

test('ids of orders above 2^53 keep every digit', async () => {
  const id = 9_007_199_254_740_993n
  await api.sql(`alter table orders alter column id restart with ${id}`)
  const { id: petId } = await api.addPet()
  expect((await run('orders', 'place', String(petId))).stdout).toBe(`${id}\n`)
  expect((await run('orders', 'complete', String(id), '--json')).stdout).toContain(
    `{"id":${id},"petId":${petId},`,
  )
  expect((await run('orders', 'get', String(id))).stdout).toContain(`\n${id}  completed  `)
})
