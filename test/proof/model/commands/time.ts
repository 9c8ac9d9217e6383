// Commands that no client sends: let time pass, and run background work of the service. They simulate long periods by
// changing timestamps in the database.
import * as fc from 'fast-check'
import { sequenceDueEvents } from '../../../../src/events/feed/sequencer.ts'
import { purgeIdempotencyKeys } from '../../../../src/store/idempotency/idempotency.ts'
import { foldAllCounts } from '../../../../src/store/inventory/inventory.ts'
import { deleteEmptyCounts } from '../../../../src/store/inventory/queries.ts'
import { WITHOUT_TRIGGERS } from '../../../support/api-fixture.ts'
import { workInTime } from '../../late.ts'
import { madeApiKeys, passSecond } from '../fixture.ts'
import { endApiKey } from '../reference/api-keys.ts'
import { endHold } from '../reference/orders.ts'
import { type Command, command } from './choices.ts'

const second = fc.constant<Command>(async (session) => passSecond(session))

const holdEnds = command({ chosen: fc.nat(2) }, async (session, _asking, { chosen }) => {
  const open = [...session.store.orders.values()].filter(({ status }) => status === 'open')
  const order = open.at(-1 - chosen)
  if (order === undefined) return
  const [row] = await session.query<{ end: Date }>(
    `update orders set expires_at = created_at + interval '1 microsecond' from ${WITHOUT_TRIGGERS} where id = $1
      returning expires_at as end`,
    [order.id],
  )
  session.calls.push(`the hold of order ${order.id} expires`)
  endHold(session.store, order.id, (row as { end: Date }).end.toISOString())
  passSecond(session)
})

const apiKeyEnds = command({ chosen: fc.nat(2) }, async (session, _asking, { chosen }) => {
  const working = madeApiKeys(session).filter(({ endedIn }) => endedIn === undefined)
  const apiKey = working[chosen]
  if (apiKey === undefined) return
  const [row] = await session.query<{ end: Date }>(
    `update api_keys set expires_at = now() where id = $1 returning expires_at as end`,
    [apiKey.id],
  )
  session.calls.push(`the API key ${apiKey.id} expires`)
  endApiKey(session.store, apiKey.id, (row as { end: Date }).end.toISOString())
})

const dayPasses = command({}, async (session, { at }) => {
  await session.query(`update idempotency_keys set created_at = created_at - interval '25 hours'`)
  await workInTime(() => purgeIdempotencyKeys(session.instances[at].db))
  session.calls.push('a day passes for every Idempotency-Key')
  session.store.kept.clear()
})

/** Background jobs, whose effects must never be visible to clients. */
const housekeeping = command(
  { job: fc.constantFrom('fold counts', 'delete empty counts', 'sweep holds', 'sequence events') },
  async ({ instances, calls }, { at }, { job }) => {
    const { db, holds } = instances[at]
    calls.push(`${'AB'[at]}: ${job}`)
    await workInTime(async () => {
      if (job === 'fold counts') await foldAllCounts(db)
      else if (job === 'sweep holds') await holds.sweep()
      else if (job === 'sequence events') await sequenceDueEvents(db)
      else await deleteEmptyCounts(db)
    })
  },
)

export const timeCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: second, weight: 1 },
  { arbitrary: holdEnds, weight: 4 },
  { arbitrary: apiKeyEnds, weight: 1 },
  { arbitrary: dayPasses, weight: 1 },
  { arbitrary: housekeeping, weight: 3 },
]
