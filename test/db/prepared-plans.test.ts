// PostgreSQL plans each statement of the service once per connection, and not at each execution.
import { expect, test } from 'vitest'
import { purgeEvents, sequenceDueEvents } from '../../src/events/feed/sequencer.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { openApiFixtureOn } from '../support/api-fixture.ts'

/** PostgreSQL makes its first choice between a plan for all values and plans for particular values after 5 executions. */
const EXECUTIONS = 6
const LISTS = [
  '/pets',
  '/pets?status=available',
  '/pets?categoryId=1',
  '/pets?categoryId=1&status=sold',
  '/pets?name=r',
  '/pets?word=r',
  '/pets?name=r&status=available',
  '/pets?id=1',
  '/pets/1',
  '/pets/1/history',
  '/store/orders',
  '/store/orders?status=open',
  '/store/orders?petId=1',
  '/store/orders?petId=1&status=open',
  '/store/orders?status=open&sort=expiresAt',
  '/store/inventory',
  '/store/figures',
  '/store/figures?days=90&timeZone=Asia/Kathmandu',
  '/api-keys/deprecated-calls',
  '/categories',
  '/events',
  '/events?after=latest&type=pet.updated',
]

test('no statement is planned at each execution', async () => {
  const databaseUrl = await createTestDatabase()
  // With a single connection, the statements of all requests are prepared on it.
  const db = openTestDatabase(databaseUrl, 1)
  const api = await openApiFixtureOn(databaseUrl, db, {})
  for (let round = 0; round < EXECUTIONS; round += 1) {
    const { id } = await api.hold()
    expect((await api.end('complete', id)).status).toBe(200)
    const { id: petId } = await api.addPet()
    expect((await api.patch(petId, { name: `renamed ${round}` })).status).toBe(200)
    expect((await api.put('/categories/1', { name: `category ${round}` })).status).toBeLessThan(300)
    const idempotencyKey = { 'idempotency-key': `key ${round}` }
    expect((await api.post('/pets', { name: 'Rex', categoryId: 1 }, idempotencyKey)).status).toBe(201)
    await sequenceDueEvents(db)
    await purgeEvents(db, 86_400)
    for (const path of LISTS) expect((await api.get(path)).status, path).toBe(200)
  }
  const statements = await db.read<{ name: string; custom: number; executions: number }>({
    name: 'list_prepared_statements',
    text: `select name, custom_plans::int as custom, (generic_plans + custom_plans)::int as executions
      from pg_prepared_statements where name <> 'list_prepared_statements'`,
    values: [],
  })
  expect(statements.length).toBeGreaterThan(25)
  const names = statements.map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['find_events', 'find_feed_state', 'number_events', 'delete_old_events']),
  )
  expect(statements.filter(({ custom }) => custom > 0)).toEqual([])
})
