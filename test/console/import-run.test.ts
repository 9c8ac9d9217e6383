// How the console sends the pets of a file: in batches, each pet once. And the rows that are rejected.
import { PetstoreError, type PetToCreate } from '@petstore/client'
import { expect, test } from 'vitest'
import { areAdded } from '../../console/src/import/already-added.ts'
import { findImport, findNamesake, rememberImport } from '../../console/src/import/past-imports.ts'
import { readPetFile } from '../../console/src/import/pet-rows.ts'
import { rejectedCsv, rejectedName } from '../../console/src/import/rejected-list.ts'
import {
  decided,
  DoubtfulImport,
  isDoubtful,
  NOTHING_DONE,
  type Progress,
  rejectedRows,
  runImport,
} from '../../console/src/import/run-import.ts'
import { openClientFixture } from '../support/client-fixture.ts'
import { newCategoryId } from '../support/pets.ts'

const { store, api } = await openClientFixture({ categoryPolicy: 'strict' })

const read = (text: string) => readPetFile(Buffer.from(text), { code: 'EUR', decimals: 2 }, new Date())

const send = (pets: PetToCreate[], idempotencyKey: string) =>
  store.pets.changeMany(
    pets.map((create) => ({ create })),
    { idempotencyKey },
  )

/** A file of 250 rows. Two of them have no name, one has a category that does not exist, and all have a price. */
async function newFile() {
  const categoryId = newCategoryId()
  await store.categories.put(categoryId, { name: `Category ${categoryId}` })
  const rows = Array.from({ length: 250 }, (_, index) => `Pet ${index},${categoryId},129.00`)
  rows[7] = `,${categoryId},129.00`
  rows[120] = `Lost,${newCategoryId()},129.00`
  rows[249] = `,${categoryId},129.00`
  const hash = `hash-${categoryId}`
  const added = () =>
    api.sql('select name from pets join pet_profiles on pet_id = id where category_id = $1 order by id', [
      categoryId,
    ])
  return { file: read(`name,categoryId,price\n${rows.join('\n')}\n`), hash, added }
}

const NOW = new Date('2026-11-18T12:00:00Z')
const hoursLater = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000)

/** Runs an import and returns its last progress. `sender` can fail. */
async function run(
  { file, hash }: Pick<Awaited<ReturnType<typeof newFile>>, 'file' | 'hash'>,
  from: Progress,
  sender = send,
  { actorId = '1', now = NOW } = {},
): Promise<{ progress: Progress; error: unknown }> {
  let progress = from
  const onProgress = (done: Progress) => (progress = done)
  const options = { hash, actorId, now: () => now, send: sender, onProgress }
  const error = await runImport(file, from, options).catch((thrown: unknown) => thrown)
  return { progress, error }
}

test('adds each accepted row with its price, and lists the rows that the preview and the service reject', async () => {
  const { file, hash, added } = await newFile()
  const keys: string[] = []
  const { progress, error } = await run({ file, hash }, NOTHING_DONE, (pets, key) => {
    keys.push(key)
    return send(pets, key)
  })
  expect(error).toBeUndefined()
  expect(keys).toEqual([`${hash}-1`, `${hash}-2`, `${hash}-3`])
  expect(progress).toMatchObject({ rows: 250, added: 247 })
  expect(await added()).toHaveLength(247)
  const rejected = rejectedRows(file, progress)
  expect(rejected.map(({ record, reason }) => [record.line, reason])).toEqual([
    [9, 'name is missing.'],
    [122, expect.stringContaining('categor')],
    [251, 'name is missing.'],
  ])
})

test('continues after a lost response, and adds no pet twice', async () => {
  const { file, hash, added } = await newFile()
  const lost = new PetstoreError({ code: 'network_error', message: 'lost' })
  const first = await run({ file, hash }, NOTHING_DONE, async (pets, key) => {
    const results = await send(pets, key)
    if (key.endsWith('-2')) throw lost
    return results
  })
  expect(first.error).toBe(lost)
  expect(first.progress).toMatchObject({ rows: 100, added: 99 })
  expect(await added()).toHaveLength(198)
  const second = await run({ file, hash }, first.progress)
  expect(second.progress).toMatchObject({ rows: 250, added: 247 })
  expect(second.progress.rejected).toHaveLength(1)
  expect(await added()).toHaveLength(247)

  // A browser that remembers nothing sends all batches again.
  const forgotten = await run({ file, hash }, NOTHING_DONE)
  expect(forgotten.progress).toEqual(second.progress)
  expect(await added()).toHaveLength(247)
  await run({ file, hash }, { ...NOTHING_DONE, run: 2 })
  expect(await added()).toHaveLength(2 * 247)
})

const loseResponse = async (pets: PetToCreate[], key: string) => {
  await send(pets, key)
  throw new PetstoreError({ code: 'network_error', message: 'lost' })
}

test.each([
  { what: 'the key of another person', actorId: '2', now: NOW, isKnown: false },
  { what: 'the same person a day later', actorId: '1', now: hoursLater(23), isKnown: false },
  { what: 'the same person in time', actorId: '1', now: hoursLater(22), isKnown: true },
])('sends a batch without a response again only if the service knows it: $what', async (later) => {
  const { file, hash, added } = await newFile()
  const first = await run({ file, hash }, NOTHING_DONE, loseResponse)
  // Remembered before the first response.
  expect(first.progress.sent).toEqual({ rows: 100, actorId: '1', at: NOW.toISOString() })
  expect(isDoubtful(first.progress, later.actorId, later.now)).toBe(!later.isKnown)
  let sent = 0
  const count: typeof send = (pets, key) => {
    sent += 1
    return send(pets, key)
  }
  const second = await run({ file, hash }, first.progress, count, later)
  if (later.isKnown) {
    expect(second).toMatchObject({ error: undefined, progress: { rows: 250, added: 247 } })
    expect(second.progress).not.toHaveProperty('sent')
  } else {
    expect(second.error).toBeInstanceOf(DoubtfulImport)
    expect(sent).toBe(0)
    const skipped = decided(file, first.progress, true)
    const { progress, error } = await run({ file, hash }, skipped, send, later)
    expect([error, progress.added]).toEqual([undefined, 247])
  }
  expect(await added()).toHaveLength(247)
})

test('a batch that was not added is sent after the decision, also with another key', async () => {
  const { file, hash, added } = await newFile()
  const offline = async () => {
    throw new PetstoreError({ code: 'network_error', message: 'lost' })
  }
  const { progress } = await run({ file, hash }, NOTHING_DONE, offline)
  await run({ file, hash }, decided(file, progress, false), send, { actorId: '2', now: NOW })
  expect(await added()).toHaveLength(247)
})

test('a batch that the service has rejected is not doubtful', async () => {
  const { file, hash } = await newFile()
  const rejected = new PetstoreError({ code: 'invalid_api_key', message: 'revoked', status: 401 })
  const { progress } = await run({ file, hash }, NOTHING_DONE, async () => {
    throw rejected
  })
  expect(isDoubtful(progress, '2', NOW)).toBe(false)
})

test('finds that another browser has imported the file', async () => {
  const { file, hash } = await newFile()
  const { signal } = new AbortController()
  expect(await areAdded(store, file, signal)).toBe(false)
  await run({ file, hash }, NOTHING_DONE)
  expect(await areAdded(store, file, signal)).toBe(true)
  // The last pet is another one.
  const longer = { ...file, rows: [...file.rows, ...read('name,categoryId\nNobody,1\n').rows] }
  expect(await areAdded(store, longer, signal)).toBe(false)
})

test('sends fewer large rows at once than the service accepts in a body, and a retry sends the same', async () => {
  const categoryId = newCategoryId()
  await store.categories.put(categoryId, { name: `Category ${categoryId}` })
  // 100 of these rows have more than 1 MiB as JSON.
  const large = `${'\u0001'.repeat(500)},${categoryId},${'🐕'.repeat(100)},${'🐈'.repeat(2_000)}\n`
  const file = read(`name,categoryId,breed,description\n${large.repeat(120)}`)
  const hash = `hash-${categoryId}`
  const sent: [key: string, pets: number][] = []
  const sendOrLose = async (pets: PetToCreate[], key: string) => {
    sent.push([key, pets.length])
    if (sent.length === 2) throw new PetstoreError({ code: 'network_error', message: 'lost' })
    return send(pets, key)
  }
  const first = await run({ file, hash }, NOTHING_DONE, sendOrLose)
  const { progress, error } = await run({ file, hash }, first.progress, sendOrLose)
  expect([error, progress.added, progress.rejected]).toEqual([undefined, 120, []])
  const size = sent[0]?.[1] ?? 0
  expect(size).toBeLessThan(100)
  const [one, two] = [`${hash}-1`, `${hash}-2`]
  expect(sent).toEqual([
    [one, size],
    [two, 120 - size],
    [two, 120 - size],
  ])
})

test('the list of rejected rows can be fixed and imported', () => {
  const file = read('id,name,categoryId,price\n7,=1+1,0,\n8,"Rex, the ""great""",1,1\n9,"Tom,1,\n10,Mia,1,\n')
  const csv = rejectedCsv(file, rejectedRows(file, NOTHING_DONE))
  expect(csv.split('\r\n')).toEqual([
    '\uFEFFline,reason,name,categoryId,status,price,row',
    '2,categoryId must be the number of a category.,\'=1+1,0,,,"7,=1+1,0,"',
    '3,price must be an amount such as 129.00.,"Rex, the ""great""",1,,1,"8,""Rex, the """"great"""""",1,1"',
    '4,A quote is not closed.,,,,,"9,""Tom,1,"',
    '',
  ])
  const fixed = read(csv.replace('=1+1,0', '=1+1,2').replace(',1,,1,', ',1,,1.00,'))
  expect(fixed.rows.map((row) => ('pet' in row ? row.pet : row.reason))).toEqual([
    { name: '=1+1', categoryId: '2', status: 'available' },
    {
      name: 'Rex, the "great"',
      categoryId: '1',
      status: 'available',
      profile: { price: '1.00', currency: 'EUR' },
    },
    expect.stringContaining('name is missing.'),
  ])
  expect(rejectedName('Litter 3.CSV')).toBe('Litter 3.rejected.csv')
})

test('remembers the newest imports, and survives a full or damaged storage', () => {
  const items = new Map<string, string>()
  const storage = {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => void items.set(name, value),
  }
  const done = { ...NOTHING_DONE, name: 'pets.csv', at: '2026-11-18T12:00:00Z' }
  for (let number = 1; number <= 25; number += 1) rememberImport(storage, { ...done, hash: `h${number}` })
  rememberImport(storage, { ...done, hash: 'h24', rows: 100 })
  expect(findImport(storage, 'h24')).toMatchObject({ rows: 100 })
  expect(findImport(storage, 'h25')).toMatchObject({ rows: 0 })
  expect(findImport(storage, 'h1')).toBeUndefined()
  // A file that was corrected has the name of the former one, of which pets were added.
  rememberImport(storage, { ...done, hash: 'h23', added: 98 })
  expect(findNamesake(storage, { name: 'pets.csv', hash: 'new' })).toMatchObject({ hash: 'h23', added: 98 })
  expect(findNamesake(storage, { name: 'pets.csv', hash: 'h23' })).toBeUndefined()
  expect(findNamesake(storage, { name: 'pets.rejected.csv', hash: 'new' })).toBeUndefined()
  items.set('petstore-imports', '{')
  expect(findImport(storage, 'h24')).toBeUndefined()
  const full = {
    ...storage,
    setItem: () => {
      throw new Error('full')
    },
  }
  expect(() => rememberImport(full, { ...done, hash: 'h1' })).not.toThrow()
})
