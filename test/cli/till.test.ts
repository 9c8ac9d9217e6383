// `petstore till`, and the money of `petstore orders`.
import { beforeEach, expect, test } from 'vitest'
import type { Order } from '../support/api-fixture.ts'
import { cellsOf, openCliFixture } from './fixture.ts'

const { run, json, api } = await openCliFixture()

const DAY = '2026-01-15'
const ENTRY_HEADS = [
  'ID',
  'DAY',
  'AT',
  'KIND',
  'ORDER',
  'PET',
  'PETS',
  'SALES',
  'PAID',
  'METHOD',
  'SELLER',
  'BY',
  'WHY',
]
const CLOSING_HEADS = ['DAY', 'EXPECTED', 'COUNTED', 'DIFFERENCE', 'KEPT', 'CLOSED', 'BY', 'NOTE']

interface Entry {
  id: number
  kind: string
  paid: string
  sales: string
}

const setClock = (time: string) =>
  api.sql(
    `create or replace function till_now() returns timestamptz language sql volatile return timestamptz '${time}'`,
  )
beforeEach(async () => {
  await setClock(`${DAY}T10:00:00Z`)
})

const hold = async (...options: string[]): Promise<Order> => {
  const { id } = await api.addPet()
  return (await json('orders', 'place', String(id), ...options)) as Order
}
const sell = async (price: string): Promise<string> => {
  const { id } = await hold('--price', price)
  await json('orders', 'complete', String(id), '--method', 'cash')
  return String(id)
}
const entriesOf = async (orderId: string) => (await json('till', 'entries', '--order', orderId)) as Entry[]

test('a deposit, a sale at another price, a correction, a refund and a void are entries of the order', async () => {
  const order = await hold('--price', '129.00', '--deposit', '20.00', '--method', 'card')
  expect(order).toMatchObject({ deposit: '20.00' })
  const id = String(order.id)
  await json('orders', 'complete', id, '--price', '99.00', '--method', 'cash', '--reason', 'discount')
  const corrected = await run('till', 'correct', id, '119.00', '--reason', 'wrong_price')
  expect(corrected).toMatchObject({
    code: 0,
    stdout: '',
    stderr: `The price of order ${id} is 119.00 EUR.\n`,
  })
  expect(cellsOf((await run('orders', 'get', id)).stdout)[1]?.[3]).toBe('99.00 EUR (net 119.00)')
  const refunded = await run('till', 'refund', id, '19.00', '--without-pet', '--method', 'transfer')
  const entryId = refunded.stdout.trim()
  expect(refunded).toMatchObject({ code: 0, stderr: `Refunded 19.00 EUR of order ${id}. Entry id:\n` })
  const undone = await run('till', 'void', entryId)
  expect(undone).toMatchObject({ code: 0, stderr: `Voided entry ${entryId}. Entry id:\n` })
  expect((await run('till', 'void', entryId)).stdout).toBe(undone.stdout)

  const table = cellsOf((await run('till', 'entries', '--order', id)).stdout)
  const common = [DAY, `${DAY} 10:00`]
  const ids = [id, String(order.petId)]
  expect(table.map((cells) => cells.slice(1))).toEqual([
    ENTRY_HEADS.slice(1),
    [...common, 'void', ...ids, '0', '19.00 EUR', '19.00 EUR', 'transfer', 'staff', 'staff', '-'],
    [...common, 'refund', ...ids, '0', '-19.00 EUR', '-19.00 EUR', 'transfer', 'staff', 'staff', '-'],
    [...common, 'correction', ...ids, '0', '20.00 EUR', '20.00 EUR', 'cash', 'staff', 'staff', 'wrong_price'],
    [...common, 'sale', ...ids, '1', '99.00 EUR', '79.00 EUR', 'cash', 'staff', 'staff', 'discount'],
    [...common, 'deposit', ...ids, '0', '0.00 EUR', '20.00 EUR', 'card', 'staff', 'staff', '-'],
  ])
  expect((await entriesOf(id)).map(({ kind }) => kind)).toEqual(table.slice(1).map(([, , , kind]) => kind))
})

test('refund takes the pet back, and gives money back once for each key', async () => {
  const id = await sell('129.00')
  const args = [
    'till',
    'refund',
    id,
    '29.00',
    '--take-back',
    '--reason',
    'ill',
    '--idempotency-key',
    `r${id}`,
  ]
  const entry = (await json(...args)) as Entry
  expect(entry).toMatchObject({ kind: 'refund', paid: '-29.00', pets: -1, reason: 'ill' })
  expect(await json(...args)).toEqual(entry)
  expect(await json('orders', 'get', id)).toMatchObject({
    netPrice: '100.00',
    broughtBackAt: expect.any(String),
  })
  const again = await run('till', 'refund', id, '1.00', '--without-pet')
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining(`petstore till entries --order`) })
  expect(again.stderr).toContain('(order_not_sold, ')
})

test('settle gives back a part of a deposit, and keeps the rest', async () => {
  const { id } = await hold('--deposit', '20.00', '--method', 'cash')
  const { stderr } = await run('till', 'settle', String(id), '5.00', '--reason', 'changed_mind')
  expect(stderr).toBe('Gave back 5.00 EUR, and kept 15.00 EUR. Entry id:\n')
  expect(await entriesOf(String(id))).toMatchObject([{ kind: 'refund', paid: '-5.00', sales: '15.00' }, {}])
})

test.each([
  [['refund', '7', '1.00'], 'give --take-back or --without-pet'],
  [['refund', '7', '1.00', '--take-back', '--without-pet'], 'cannot be used with option'],
  [['cash', 'sideways', '1.00', '--note', 'x'], 'Allowed choices are in, out'],
  [['cash', 'in', '1.00'], "required option '--note <text>'"],
  [['close', DAY, '--counted', '1.00'], "required option '--kept <amount>'"],
  [['correct', '7', '1.00', '--method', 'cheque'], 'Allowed choices are cash, card, transfer, other'],
  [['entries', '--order', '7', '--pet', '7'], 'cannot be used with option'],
  [['void', 'x'], 'An id is a whole number above 0'],
])('rejects the arguments %j, and sends nothing', async (args, message) => {
  const { code, stdout, stderr } = await run('till', ...args)
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
})

test('totals, cash and the closing of a day: the table and JSON have the same sums', async () => {
  const day = '2026-02-20'
  await setClock(`${day}T10:00:00Z`)
  const none = await run('till', 'totals', '--from', day)
  expect(none.stderr).toBe(`${day}, days in Europe/Berlin\nNo entries.\n`)
  await sell('450.00')
  const { id } = await hold('--price', '1150.00', '--deposit', '50.00', '--method', 'cash')
  await json('orders', 'complete', String(id), '--method', 'card')
  await hold('--deposit', '20.00', '--method', 'cash')
  const put = await run('till', 'cash', 'in', '30.00', '--note', 'change from the bank')
  expect(put).toMatchObject({ code: 0, stderr: 'Put in 30.00 EUR. Entry id:\n' })
  const taken = await run('till', 'cash', 'out', '9.00', '--note', 'stamps')
  expect(taken.stderr).toBe('Took out 9.00 EUR. Entry id:\n')
  const [cash] = cellsOf((await run('till', 'entries', '--limit', '1')).stdout).slice(1)
  expect(cash?.slice(3)).toEqual([
    'cash',
    '-',
    '-',
    '0',
    '0.00 EUR',
    '-9.00 EUR',
    'cash',
    '-',
    'staff',
    'stamps',
  ])

  const { drawer } = (await json('till', 'totals')) as { drawer: { expected: string } }
  const { stdout, stderr } = await run('till', 'totals', '--by', 'method')
  expect(stderr).toBe(`${day}, days in Europe/Berlin\n`)
  expect(cellsOf(stdout)).toEqual([
    ['METHOD', 'PETS', 'SALES', 'PAID'],
    ['cash', '1', '450.00 EUR', '520.00 EUR'],
    ['card', '1', '1150.00 EUR', '1100.00 EUR'],
    ['total', '2', '1600.00 EUR', '1620.00 EUR'],
    [expect.stringMatching(/^Deposits held: \d+\.00 EUR$/)],
    ['Cash put in, minus cash taken out: 21.00 EUR'],
    [`Expected cash: ${drawer.expected} EUR`],
  ])
  const several = await run('till', 'totals', '--from', DAY, '--to', day)
  expect(several.stderr).toBe(`${DAY} to ${day}, days in Europe/Berlin\n`)
  expect(cellsOf(several.stdout).slice(0, 2)).toEqual([
    ['PETS', 'SALES', 'PAID'],
    [expect.stringMatching(/^\d+$/), expect.stringMatching(/ EUR$/), expect.stringMatching(/ EUR$/)],
  ])

  const counted = ['--counted', drawer.expected, '--kept', '100.00', '--note', 'all there']
  const closed = await run('till', 'close', day, ...counted)
  const row = [day, `${drawer.expected} EUR`, `${drawer.expected} EUR`, '0.00 EUR', '100.00 EUR']
  const [, printed] = cellsOf(closed.stdout)
  expect(cellsOf(closed.stdout)).toEqual([CLOSING_HEADS, [...row, `${day} 10:00`, 'staff', 'all there']])
  expect(cellsOf((await run('till', 'closings')).stdout)).toEqual([CLOSING_HEADS, printed])
  expect(await json('till', 'close', day, ...counted)).toEqual(
    ((await json('till', 'closings')) as object[])[0],
  )
  const other = await run('till', 'close', day, '--counted', '1.00', '--kept', '0.00')
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('(day_closed, ') })
})
