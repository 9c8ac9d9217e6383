// The client reports fields of a new pet that the service ignored.
import type { IgnoredFields, Petstore } from '@petstore/client'
import { expect, test, vi } from 'vitest'
import { openClientFixture } from '../support/client-fixture.ts'

const { open } = await openClientFixture()
type NewPet = Parameters<Petstore['pets']['create']>[0]
const pet = { name: 'Biscuit', categoryId: 1 }

test('calls onIgnoredFields for each create with unknown fields, with their decoded names', async () => {
  const reports: IgnoredFields[] = []
  const store = open({ onIgnoredFields: (ignored) => reports.push(ignored) })
  await store.pets.create(pet)
  await store.pets.create({ ...pet, price: '5.00', 'größe, cm': 40 } as NewPet)
  expect(reports).toEqual([
    {
      operation: 'createPet',
      fields: ['price', 'größe, cm'],
      message: 'Petstore: createPet ignored fields that it does not have: "price", "größe, cm".',
    },
  ])
})

test('without onIgnoredFields, prints a warning, and a header that a proxy has broken is not decoded', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const store = open({
    fetch: async (...request) => {
      const response = await fetch(...request)
      const headers = new Headers(response.headers)
      headers.set('petstore-ignored-fields', 'price, %zz')
      return new Response(response.body, { status: response.status, headers })
    },
  })
  await store.pets.create(pet)
  expect(warn.mock.calls).toEqual([
    ['Petstore: createPet ignored fields that it does not have: "price", "%zz".'],
  ])
  warn.mockRestore()
})
