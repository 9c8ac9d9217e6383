// What the console does with a price in another currency than that of the shop: it never changes the currency of a price.
import { Petstore, type PetProfile } from '@petstore/client'
import { expect, test } from 'vitest'
import { type Known, savePet, undoSave, type Wanted } from '../../console/src/pet/save-pet.ts'
import { type ProfileValues, profileOf, profileValues } from '../../console/src/profile/profile-values.ts'
import { deleteMany } from '../../console/src/selected-pets/change-many.ts'
import { saleLine, sellMany } from '../../console/src/selected-pets/sell-many.ts'
import { release, undoRelease } from '../../console/src/selling/actions.ts'
import { priceInput } from '../../console/src/selling/price-input.ts'
import { startApp } from '../support/app.ts'
import { openClientFixture } from '../support/client-fixture.ts'
import { shopIn } from '../support/settings.ts'

const { store: inDollars, api, open } = await openClientFixture({ settings: shopIn('USD') })
const YEN = { code: 'JPY', decimals: 0 }
const { origin } = await startApp(api.db, { settings: shopIn(YEN.code) })
const store: Petstore = open({ baseUrl: `${origin}/v1` })
const DOLLARS = { price: '129.00', currency: 'USD' }

async function addPet(name: string) {
  const pet = await inDollars.pets.create({ name, categoryId: 1 })
  const profile = await inDollars.pets.setProfile(pet.id, { price: '129.00' })
  return { pet, profile }
}

/** Saves what a person has typed into the form of the shop that now has yen. */
async function save({ pet, profile }: Awaited<ReturnType<typeof addPet>>, typed: Partial<ProfileValues>) {
  const wanted: Wanted = {
    values: pet,
    reason: '',
    profile: profileOf({ ...profileValues(profile), ...typed }, YEN),
  }
  const known: Known = { pet, profile }
  return savePet(store, known, wanted, () => {})
}

const pricesOf = async (...ids: string[]) =>
  (await Promise.all(ids.map((id) => store.pets.profile(id)))).map(({ price, currency }) => ({
    price,
    currency,
  }))

test('a form keeps the stored price if only the breed was typed, and its Undo too', async () => {
  const before = await addPet('Bella')
  const after = await save(before, { breed: 'Beagle' })
  expect(after.profile).toMatchObject({ ...DOLLARS, breed: 'Beagle' })
  await undoSave(store, before, after)
  const { etag: _, ...profile }: PetProfile & { etag: string } = await store.pets.profile(before.pet.id)
  expect(profile).toEqual({ petId: before.pet.id, ...DOLLARS })
})

test('a price that is typed is in the currency of the shop; its Undo restores all but the price, and says so', async () => {
  const before = await addPet('Rex')
  const yen = { price: '19000', currency: YEN.code }
  const after = await save(before, { ...yen, breed: 'Boxer' })
  expect(after.profile).toMatchObject({ ...yen, breed: 'Boxer' })
  await expect(undoSave(store, before, after)).rejects.toMatchObject({
    title: 'Only partly undone',
    message: 'Rex is as it was before, but its price stays: US$129.00 is not in the currency of the shop.',
  })
  const profile = await store.pets.profile(before.pet.id)
  expect(profile).toMatchObject(yen)
  expect(profile).not.toHaveProperty('breed')
})

test('a page that was loaded before the currency changed cannot store a price in the former one', async () => {
  const { pet, profile } = await addPet('Ida')
  const values = { ...profileValues(profile), price: '99' }
  const stale = profileOf(values, { code: 'USD', decimals: 2 })
  await expect(store.pets.setProfile(pet.id, stale)).rejects.toMatchObject({ code: 'currency_mismatch' })
  expect(await pricesOf(pet.id)).toEqual([DOLLARS])
})

test('the Undo of a deletion adds the pet without its price, and says so', async () => {
  const [{ pet }, other] = [await addPet('Tom'), await store.pets.create({ name: 'Uma', categoryId: 1 })]
  await store.pets.setProfile(other.id, { price: '500' })
  const { undo } = await deleteMany(store, [pet, other])
  await expect(undo()).rejects.toMatchObject({
    title: 'Only partly undone',
    message:
      '2 pets are in the list again, with a new number. Without a price, because theirs was not in the currency of the shop: Tom.',
  })
  const { items } = await store.pets.list({ limit: 2 }).page()
  const added = Object.fromEntries(
    await Promise.all(items.map(async ({ id, name }) => [name, (await pricesOf(id))[0]])),
  )
  expect(added).toEqual({
    Tom: { price: undefined, currency: undefined },
    Uma: { price: '500', currency: 'JPY' },
  })
})

test('a hold and a sale keep the price that they show, in its currency, and so does the Undo of a release', async () => {
  const [free, held] = [await addPet('Vito'), await addPet('Wanda')]
  const order = await store.orders.place({ petId: held.pet.id, ...DOLLARS })
  const released = await release(store, held.pet, order)
  expect(released.status).toBe('available')
  const again = await undoRelease(store, held.pet, order)
  expect(again.order).toMatchObject(DOLLARS)
  expect(priceInput(DOLLARS, undefined, YEN)).toEqual({
    text: '129.00',
    currency: 'USD',
    amount: '129.00',
    fault: undefined,
    description: undefined,
  })
  expect(priceInput(DOLLARS, '129', YEN)).toMatchObject({
    currency: 'JPY',
    amount: '129',
    description: 'The price was US$129.00.',
  })
  const facts = {
    orders: { [held.pet.id]: again.order },
    profiles: { [free.pet.id]: free.profile, [held.pet.id]: held.profile },
    typed: {},
    currency: YEN,
    deleted: new Set<string>(),
  }
  const lines = [
    saleLine(free.pet, facts),
    saleLine({ ...held.pet, status: 'pending' }, { ...facts, typed: { [held.pet.id]: '15000' } }),
  ]
  const { failed, total } = await sellMany(store, lines, { note: '', method: undefined }, () => {})
  expect([failed, total]).toEqual([
    [],
    [
      { currency: 'USD', amount: '129.00' },
      { currency: 'JPY', amount: '15000' },
    ],
  ])
  const sales = await store.orders.list({ status: 'completed', sort: 'closedAt' }).page()
  expect(sales.items.map(({ price, currency }) => ({ price, currency }))).toEqual([
    { price: '15000', currency: 'JPY' },
    DOLLARS,
  ])
})
