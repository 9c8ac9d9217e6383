// Commands that change the catalogue of a running service, and the history of a pet.
import { expect, test } from 'vitest'
import type { HistoryEntry } from '../support/api-fixture.ts'
import { behindFaultInjector, cellsOf, openCliFixture } from './fixture.ts'

const cli = await openCliFixture()
const { run, json, api } = cli

const HISTORY_HEADS = ['AT', 'EVENT', 'BY', 'CHANGE', 'REASON']
const minute = (instant: string) => instant.slice(0, 16).replace('T', ' ')

test('update changes the given fields, shows the pet, and prints its ETag for --if-match', async () => {
  const { id } = await api.addPet({ name: 'Biscuit' })
  const args = ['pets', 'update', String(id), '--name', 'Rex', '--category', '9', '--reason', 'misread']
  const updated = await run(...args)
  expect(updated).toMatchObject({ code: 0, stderr: `Updated pet ${id}. Its ETag: "2"\n` })
  expect(cellsOf(updated.stdout)[1]).toEqual([String(id), 'available', '9', 'Rex'])
  const pet = await json('pets', 'update', String(id), '--status', 'sold', '--if-match', '2')
  expect(pet).toEqual({ id, name: 'Rex', categoryId: 9, status: 'sold' })
  expect(await api.findPet(id)).toEqual(pet)

  const stale = await run('pets', 'update', String(id), '--name', 'Max', '--if-match', '"2"')
  expect(stale).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('(precondition_failed,'),
  })
  expect((await api.history(id)).map(({ reason }) => reason)).toEqual([undefined, 'misread', undefined])
})

test('update says how to check the change after a lost response, and does not suggest a retry', async () => {
  const { run: runWithFaults, injector } = await behindFaultInjector(cli)
  const { id } = await api.addPet()
  injector.next('hang after')
  const lost = await runWithFaults('pets', 'update', String(id), '--name', 'Rex', '--timeout', '4')
  expect(lost).toMatchObject({ code: 75, stdout: '' })
  expect(lost.stderr).toContain(
    `The change may have been made. Check before you retry: petstore pets history ${id}\n`,
  )
  await expect.poll(async () => (await api.findPet(id))?.name).toBe('Rex')
})

test('delete deletes a pet, and fails for a pet that is unknown or has orders', async () => {
  const { id } = await api.addPet()
  expect(await run('pets', 'delete', String(id), '--if-match', '7')).toMatchObject({ code: 1 })
  expect(await run('pets', 'delete', String(id))).toMatchObject({
    code: 0,
    stdout: '',
    stderr: `Deleted pet ${id}.\n`,
  })
  expect(await api.findPet(id)).toBeUndefined()
  const unknown = await run('pets', 'delete', String(id), '--json')
  expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('(pet_not_found,') })
  const { petId } = await api.hold()
  const held = await run('pets', 'delete', String(petId))
  expect(held).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('(pet_has_orders,') })
})

test('history shows each change, newest first, and escapes control characters', async () => {
  const { id } = await api.addPet({ name: 'Rex' })
  await api.patch(id, { name: '\u001b[31mMax', categoryId: 2, reason: 'a\nb' })
  await api.hold({ petId: id })
  const entries = await api.history(id)
  const at = entries.map((entry) => minute(entry.at))
  const shown = await run('pets', 'history', String(id))
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(cellsOf(shown.stdout)).toEqual([
    HISTORY_HEADS,
    [at[0], 'order_placed', 'staff', 'status available -> pending', '-'],
    [at[1], 'updated', 'staff', 'name Rex -> \\u001b[31mMax, categoryId 1 -> 2', 'a\\nb'],
    [at[2], 'created', 'staff', '-', '-'],
  ])
  expect(await json('pets', 'history', String(id))).toEqual(entries)
  const [newest] = (await json('pets', 'history', String(id), '--limit', '1')) as HistoryEntry[]
  expect(newest).toEqual(entries[0])
  expect(await run('pets', 'history', '999999')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('(pet_not_found,'),
  })
})

test('categories put sets a name and a picture, and removes the picture; categories list shows names and counts', async () => {
  const id = '9223372036854775807'
  await api.addPet({ categoryId: 70, status: 'sold' })
  const named = await run('categories', 'put', id, '--name', 'Cats & co\u0007')
  expect(named).toMatchObject({ code: 0, stdout: '', stderr: `Category ${id}: Cats & co\\u0007\n` })
  expect(await json('categories', 'put', id, '--name', 'Cats')).toEqual({
    id: BigInt(id),
    name: 'Cats',
    counts: { available: 0, pending: 0, sold: 0 },
  })
  const put = (picture: string) => json('categories', 'put', id, '--name', 'Cats', '--picture', picture)
  expect(await put('cat')).toMatchObject({ name: 'Cats', picture: 'cat' })
  expect(await put('none')).not.toHaveProperty('picture')
  const rows = cellsOf((await run('categories', 'list', '--all')).stdout)
  expect(rows[0]).toEqual(['ID', 'AVAILABLE', 'PENDING', 'SOLD', 'NAME'])
  expect(rows.find(([row]) => row === '70')).toEqual(['70', '0', '0', '1', '-'])
  expect(rows.at(-1)).toEqual([id, '0', '0', '0', 'Cats'])
  expect(await json('categories', 'list')).toContainEqual({
    id: 70,
    counts: { available: 0, pending: 0, sold: 1 },
  })
})

test.each([
  [['pets', 'add'], 'error: missing <name> and --category <id>\n'],
  [['pets', 'add', 'Rex'], 'error: missing --category <id>\n'],
  [['categories', 'put'], 'error: missing <id> and --name <text>\n'],
  [['pets', 'update', '1', '--reason', 'x'], 'error: give at least one of --name, --category and --status\n'],
  [['pets', 'update', '1', '--name', 'x', '--if-match', 'abc'], 'ETag'],
])('%j fails without a request, and explains the mistake', async (args, explanation) => {
  const { code, stdout, stderr } = await run(...args, '--url', 'http://127.0.0.1:9')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(explanation)
  expect(stderr).toContain('--help')
})
