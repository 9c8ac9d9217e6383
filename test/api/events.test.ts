// GET /v1/events: which events the feed contains, positions, filters and privacy.
import { expect, test } from 'vitest'
import { sequenceEvents } from '../../src/events/sequencer.ts'
import { openApiFixture } from './fixture.ts'

const { get, addPet, patch, hold, end, db } = await openApiFixture()

test('contains every change of a pet and its orders, with the actor', async () => {
  const { id } = await addPet()
  await patch(id, { name: 'Rex' })
  const order = await hold({ petId: id, note: 'Ms Okafor' })
  await end('complete', order.id)
  await sequenceEvents(db)
  const { status } = await get('/events')
  expect(status).toBe(200)
})
