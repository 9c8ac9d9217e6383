// The audit that the fault and race tests use: accepts a correct feed, and finds each kind of fault in a broken one.
import { beforeEach, expect, test } from 'vitest'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { auditFeed } from '../support/feed-audit.ts'
import { shareApiFixture } from '../support/api-fixture.ts'

const open = shareApiFixture()
let api: Awaited<ReturnType<typeof open>>
let audit: () => Promise<string>

beforeEach(async () => {
  api = await open()
  audit = async () => (await auditFeed(api.databaseUrl)).join('\n')
  const { id } = await api.addPet({ name: 'Ada' })
  await api.patch(id, { name: 'Bo', categoryId: 2 })
  await api.patch(id, { name: 'Bo', status: 'pending' })
  await api.patch(id, { status: 'available' })
  const cancelled = await api.hold({ petId: id })
  await api.end('cancel', cancelled.id)
  const completed = await api.hold({ petId: id })
  await api.end('complete', completed.id)
  await api.hold()
  const { id: mistaken } = await api.addPet()
  await api.remove(`/pets/${mistaken}`)
  await api.sql(`insert into pets (name, category_id) select 'Pet ' || n, 1 from generate_series(1, 2500) n`)
  await sequenceEvents(api.db)
})

test('accepts the feed of a store that was changed by requests and by hand', async () => {
  expect(await audit()).toBe('')
})

test('numbers the events that have no number yet', async () => {
  await api.addPet()
  expect(await audit()).toBe('')
})

const FAULTS: [what: string, statement: string, found: string][] = [
  [
    'a pet that was created without an event',
    `alter table pets disable trigger record_created; insert into pets (name, category_id) values ('Cy', 1);
      alter table pets enable trigger record_created`,
    'missing from the mirror',
  ],
  [
    'a pet that was deleted without an event',
    `alter table pets disable trigger record_deleted; delete from pets where name = 'Pet 7';
      alter table pets enable trigger record_deleted`,
    'only in the mirror',
  ],
  [
    'a change without an event',
    `alter table pets disable trigger record_updated; update pets set name = 'Cy' where name = 'Pet 7';
      alter table pets enable trigger record_updated`,
    'differs from its mirror',
  ],
  [
    'a change without a history entry',
    `update pets set name = 'Cy' where name = 'Pet 7'; update pets set name = 'Pet 7' where name = 'Cy'`,
    'differ from its history',
  ],
  [
    'an event of a change that was rolled back',
    `insert into outbox (type, count, pet_ids, names, category_ids, statuses)
      values ('pet.created', 1, '{99999}', '{Cy}', '{1}', '{available}')`,
    'only in the mirror',
  ],
  [
    'an order event without the order',
    `update outbox set order_states = null where type = 'order.cancelled'`,
    'without the order',
  ],
  [
    'an order that has ended without an event',
    `alter table orders disable trigger record_changed; update orders set status = 'expired', closed_at = expires_at where status = 'open';
      alter table orders enable trigger record_changed`,
    'differs from its events',
  ],
  [
    'events of a pet in another order',
    `update event_numbers set outbox_id = case outbox_id when one then two else one end from (
      select min(id) as one, max(id) as two from outbox where type = 'pet.updated'
        and id > (select scanned_to from event_numbers where first_number = (
          select after_number from event_epochs order by id desc limit 1))
    ) as swapped where outbox_id in (one, two)`,
    'does not fit the state before it',
  ],
  [
    'a gap in the numbers',
    `update event_numbers set first_number = first_number + 5 where outbox_id = (select max(id) from outbox)`,
    'a gap',
  ],
  [
    'an outbox row without a number',
    `delete from event_numbers where outbox_id = (select max(id) - 1 from outbox)`,
    'without a number',
  ],
  [
    'an outbox row with two numbers',
    `insert into event_numbers select first_number + count, outbox_id, scanned_to, gaps_end_at, gaps, count, type
      from event_numbers order by first_number desc limit 1`,
    'with two numbers',
  ],
]

test.each(FAULTS)('finds %s', async (_what, statement, found) => {
  await api.sql(statement)
  expect(await audit()).toContain(found)
})
