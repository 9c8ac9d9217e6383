// More than can be done: whoever would wait too long is told so at once, and the others are answered.
import { expect, test } from 'vitest'
import { together } from '../../src/db/batch.ts'
import { petBatches } from '../../src/pets/batches.ts'
import type { VersionedPet } from '../../src/pets/schema.ts'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'

test('beyond the longest queue a request is 503 overloaded at once; those in the queue are answered', async () => {
  const db = openTestDatabase(await createTestDatabase())
  const { promise: databaseIsBack, resolve: letGo } = Promise.withResolvers<void>()
  const findPets = async (ids: bigint[]) => {
    await databaseIsBack
    return ids.map((): VersionedPet | undefined => undefined)
  }
  const findPet = together(findPets, { sizeMax: 1, underWayMax: 1, waitingMax: 3 })
  const petstore = await startApp(db, { pets: { ...petBatches(db, true, 1, () => {}), findPet } })

  const waiting = Array.from({ length: 4 }, () => petstore.get('/pets/1'))
  await expect.poll(async () => (await petstore.get('/pets/1')).status).toBe(503)
  const refused = await petstore.get('/pets/1')
  expect([refused.status, refused.body]).toMatchObject([503, { code: 'overloaded' }])
  expect(refused.headers.get('retry-after')).toBe('1')

  letGo()
  const answers = await Promise.all(waiting)
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  expect((await petstore.get('/pets/1')).status).toBe(404)
})
