// The files that a person downloads in the console: the export of the list, and what a spreadsheet would run.
import type { ExportPetsQuery, Petstore } from '@petstore/client'
import { assert, constantFrom, property, sample, string, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { readExport } from '../../console/src/export/read-export.ts'
import { isAccepted, readPetFile } from '../../console/src/import/pet-rows.ts'
import { csvText, readCell, safeCell } from '../../console/src/layout/csv.ts'
import { openClientFixture } from '../support/client-fixture.ts'
import { newCategoryId } from '../support/pets.ts'

const { store } = await openClientFixture()
const { signal } = new AbortController()

test('has the pets with their profiles, counts them, and says if there can be more', async () => {
  const pet = await store.pets.create({ name: 'Zoé', categoryId: 1 })
  await store.pets.setProfile(pet.id, { breed: 'Beagle' })
  await store.pets.create({ name: 'Rex', categoryId: 1, status: 'sold' })
  const counts: number[] = []
  const read = async (format: 'csv' | 'ndjson', max?: number) => {
    const query = { format, status: 'available' } as const
    const options = { signal, onCount: (count: number) => counts.push(count) }
    const { bytes, ...rest } = await readExport(
      store,
      query,
      max === undefined ? options : { ...options, max },
    )
    return { ...rest, text: Buffer.concat(bytes).toString() }
  }
  expect(await read('csv')).toEqual({
    petCount: 1,
    isCut: false,
    // Excel needs the byte order mark.
    text: expect.stringMatching(/^\uFEFFid,name,.*\r\n\d+,Zoé,1,available,,,Beagle,,,,,\r\n$/),
  })
  expect(await read('ndjson', 1)).toEqual({
    petCount: 1,
    isCut: true,
    text: expect.stringMatching(/^\{"id":\d+,"name":"Zoé",.*"breed":"Beagle"\}\n$/),
  })
  expect(counts.at(-1)).toBe(1)
})

/** Texts that begin like a formula, like what makes it harmless, or like any other text. */
const START = constantFrom('', '=', '+', '-', '@', '\t', '\r', '\n', "'", "''", "'=", "''-", '"', 'a', ' ')
const CELL = tuple(START, START, string({ maxLength: 8, unit: 'grapheme' })).map((parts) => parts.join(''))
const PROPERTIES = { seed: 20_261_118, numRuns: 5_000 }

test('no cell of a file starts like a formula, and every cell is read back as it was', () => {
  const isHarmless = (text: string) => {
    const cell = safeCell(text)
    expect(cell).not.toMatch(/^[=+\-@\t\r\n]/)
    expect(readCell(cell)).toBe(text)
  }
  assert(property(CELL, isHarmless), PROPERTIES)
  expect(['Bella', "'s", "'=1"].map(safeCell)).toEqual(['Bella', "'s", "''=1"])
})

test('an export can be imported as it was, also if it arrives in small parts', async () => {
  const names = sample(
    CELL.filter((name) => /\S/.test(name) && name.isWellFormed()),
    { seed: PROPERTIES.seed, numRuns: 100 },
  )
  const descriptions = ['=1+1', '-1\n\n"a", b', '@SUM(A1)\r\n', "'=x", '+49 30 5550147']
  const categoryId = newCategoryId()
  const pets = names.map((name, index) => ({
    name: name.replaceAll('\0', ''),
    categoryId,
    profile: { price: '129.00', description: descriptions[index % descriptions.length] ?? '' },
  }))
  await store.pets.changeMany(pets.map((create) => ({ create })))
  const inParts = {
    pets: {
      export: (query: ExportPetsQuery) => {
        const file = store.pets.export(query)
        return {
          get petCount() {
            return file.petCount
          },
          async *[Symbol.asyncIterator]() {
            for await (const bytes of file)
              for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
          },
        }
      },
    },
  } as unknown as Petstore
  const query = { format: 'csv', categoryId } as const
  const { bytes } = await readExport(inParts, query, { signal, onCount: () => {} })
  const { rows } = readPetFile(Buffer.concat(bytes), { code: 'EUR', decimals: 2 }, new Date())
  const read = rows.filter(isAccepted).map(({ pet }) => [pet.name, pet.profile?.description])
  // Newest first.
  expect(read.toReversed()).toEqual(pets.map(({ name, profile }) => [name, profile.description]))
})

test('the files of the console have the prefix in every column', () => {
  expect(csvText([['=a', '+b', '-c', '@d', '\te', 'f']])).toBe("\uFEFF'=a,'+b,'-c,'@d,'\te,f\r\n")
})
