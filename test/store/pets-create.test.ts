// createPet: the tests that need the database or a setting. Tests that need only HTTP are in test/contract/create-pet.test.ts.
import { expect, test } from 'vitest'
import { openPetTable } from '../../src/store/pets/table.ts'
import { upsertCategories } from '../../src/store/categories/queries.ts'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'

const databaseUrl = await createTestDatabase()
const db = openTestDatabase(databaseUrl)
const petstore = await startApp(db)

test('CATEGORIES=strict accepts a named category and rejects any other (400)', async () => {
  const strict = await startApp(db, { categoryPolicy: 'strict' })
  await upsertCategories(db, [{ id: 7n, name: 'Cats' }])
  const known = await strict.post('/pets', { name: 'Luna', categoryId: 7 })
  expect(known.status).toBe(201)
  const unknown = await strict.post('/pets', { name: 'Luna', categoryId: 8 })
  expect(unknown.status).toBe(400)
  expect(unknown.body).toMatchObject({ code: 'unknown_category', details: [{ field: 'categoryId' }] })
  const retried = await strict.post('/pets', { name: 'Luna', categoryId: 8 }, { 'idempotency-key': 'strict' })
  expect(retried.status).toBe(400)
})

test('stores the actor, the time and the request id with which a pet was created', async () => {
  const { body, headers } = await petstore.post('/pets', { name: 'Milo', categoryId: 1 })
  const [row] = await sql(
    databaseUrl,
    `select actors.name, request_id, now() - pets.created_at < '1 minute' as recent
      from pets join actors on actors.id = created_by where pets.id = $1`,
    [(body as { id: number }).id],
  )
  expect(row).toEqual({ name: 'test', request_id: headers.get('x-request-id'), recent: true })
})

test('creates of several callers share a statement, and the profile of each has its actor and follows its pet', async () => {
  const [actor] = await sql<{ id: string }>(databaseUrl, 'select id::text from actors limit 1')
  const createdBy = BigInt((actor as { id: string }).id)
  const sizes: number[] = []
  const table = openPetTable(db, true, 4, (_kind, size) => sizes.push(size))
  const create = (requestId: string, profile?: { breed: string }) =>
    table.insertPet({ name: requestId, categoryId: 1n, status: 'sold', createdBy, requestId, profile })
  const first = create('alone')
  const [one, two, three] = await Promise.all([
    create('one', { breed: 'Pug' }),
    create('two'),
    create('three', { breed: 'Beagle' }),
  ])
  await first
  expect(sizes).toEqual([1, 3])
  const events = await sql(
    databaseUrl,
    `select type, pet_id::bigint as "petId", request_id as "requestId", actor_id = $1 as "isCaller"
      from outbox cross join unnest(pet_ids, request_ids, actor_ids) as event (pet_id, request_id, actor_id)
      where pet_id = any($2::bigint[]) order by outbox.id, pet_id`,
    [createdBy, [one, two, three]],
  )
  const seen = events.map(({ type, petId, requestId, isCaller }) => [
    type,
    BigInt(petId as string),
    requestId,
    isCaller,
  ])
  expect(seen).toEqual([
    ['pet.created', one, 'one', true],
    ['pet.created', two, 'two', true],
    ['pet.created', three, 'three', true],
    ['pet.profile_updated', one, 'one', true],
    ['pet.profile_updated', three, 'three', true],
  ])
  const history = (await petstore.get(`/pets/${three}/history`)).body as { at: string; requestId: string }[]
  expect(history.map(({ requestId }) => requestId)).toEqual(['three', 'three'])
  expect(history[0]?.at).toBe(history[1]?.at)
})
