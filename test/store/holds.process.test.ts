// Expiry of holds in `petstore serve`, which sweeps in the background. test/store/holds.test.ts shows each rule.
import { expect, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { apiFixtureAt, type ApiFixture, openApiFixtureOn } from '../support/api-fixture.ts'
import { issueApiKey } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import type { Pet } from '../support/pets.ts'
import { startService } from '../support/service.ts'

test('every instance shows a pet as available after its hold has expired, and not earlier', async () => {
  const DATABASE_URL = await createTestDatabase()
  const db = openTestDatabase(DATABASE_URL)
  const { text: apiKey } = await issueApiKey(db, { scopes: SCOPES })
  const services = await Promise.all([startService({ DATABASE_URL }), startService({ DATABASE_URL })])
  const instances = services.map(({ origin }) => apiFixtureAt({ origin, apiKey }, DATABASE_URL, db))
  // Has no background sweep, and longer timeouts than the services.
  const patient = await openApiFixtureOn(DATABASE_URL, db, { holds: { waitUntilFresh: () => undefined } })
  const { id, petId } = await patient.hold({ holdMinutes: 1 })
  const [row] = await sql<{ expiresAt: Date }>(
    DATABASE_URL,
    `update orders set expires_at = now() + interval '5 s' where id = $1 returning expires_at as "expiresAt"`,
    [id],
  )
  const expiresAt = row?.expiresAt.getTime() ?? 0
  /** Undefined if the service rejects the request, because the host is busy. */
  const statusIn = async (api: ApiFixture) => {
    const { status, body } = await api.get(`/pets?id=${petId}`)
    return status === 200 ? (body as Pet[])[0]?.status : undefined
  }
  const freed = new Set<ApiFixture>()
  const wrong: string[] = []
  // That this takes at most a second is proven with a clock, by test/store/holds.test.ts.
  await expect
    .poll(async () => {
      for (const api of instances) {
        const status = await statusIn(api)
        if (status === 'available') {
          if (Date.now() < expiresAt) wrong.push('available before the expiry')
          freed.add(api)
        }
        if (status === 'pending' && freed.has(api)) wrong.push('pending after it was available')
      }
      return freed.size
    })
    .toBe(2)
  for (const api of instances) expect(await statusIn(api)).not.toBe('pending')
  expect(wrong).toEqual([])
  expect((await patient.get(`/store/orders/${id}`)).body).toMatchObject({ status: 'expired' })
  expect((await patient.history(petId)).map(({ event }) => event)).toEqual([
    'order_expired',
    'order_placed',
    'created',
  ])
  await Promise.all(services.map((service) => service.stop()))
})
