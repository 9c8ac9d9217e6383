// The file of an export in the console.
import { expect, test } from 'vitest'
import { readExport } from '../../console/src/export/read-export.ts'
import { openClientFixture } from '../support/client-fixture.ts'

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
    text: expect.stringMatching(/^\uFEFFid,name,.*\n\d+,Zoé,1,available,,,Beagle,,,,\n$/),
  })
  expect(await read('ndjson', 1)).toEqual({
    petCount: 1,
    isCut: true,
    text: expect.stringMatching(/^\{"id":\d+,"name":"Zoé",.*"breed":"Beagle"\}\n$/),
  })
  expect(counts.at(-1)).toBe(1)
})
