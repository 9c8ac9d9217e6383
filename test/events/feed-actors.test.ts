// The actor of an event: which API key made the change, and in which request.
import { expect, test } from 'vitest'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { openApiFixtureOn } from '../support/api-fixture.ts'

const databaseUrl = await createTestDatabase()
// One connection, so that each transaction follows another one on the same connection.
const db = openTestDatabase(databaseUrl, 1)
const { addPet, call, get } = await openApiFixtureOn(databaseUrl, db, {})

interface SeenEvent {
  type: string
  actor?: string
  requestId?: string
}

test('an event shows no actor of an earlier transaction on the same connection', async () => {
  const { id } = await addPet()
  const headers = { 'x-request-id': 'rename' }
  await call('PATCH', `/v1/pets/${id}`, { body: { name: 'Rex' }, headers })
  await db.write({
    name: 'rename_by_hand',
    text: `update pets set name = 'Milo' where id = $1`,
    values: [id],
  })
  await sequenceEvents(db)
  const events = (await get('/events?type=pet.updated')).body as SeenEvent[]
  expect(events.map(({ actor, requestId }) => [actor, requestId])).toEqual([
    ['staff', 'rename'],
    [undefined, undefined],
  ])
})
