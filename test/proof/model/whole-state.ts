// After a sequence: compares everything that clients can read, on both instances, and audits the database.
import { readStart } from '../../../src/events/feed/feed.ts'
import type { Position } from '../../../src/events/feed/format.ts'
import { auditFeedAfter } from '../../support/feed-audit.ts'
import { onOneDay } from '../../support/one-day.ts'
import { auditStore } from '../../support/store-audit.ts'
import { isPlainRead, OPERATIONS } from '../inputs/document.ts'
import { workInTime } from '../late.ts'
import { walkEvents } from './commands/events.ts'
import { walk } from './commands/lists.ts'
import { compareTotals, GROUPINGS } from './commands/till.ts'
import { listAll } from './commands/webhooks.ts'
import { type Sender, callBoth, passSecond, requireSame, type Session } from './fixture.ts'
import { salesOf } from './reference/orders.ts'
import { countsOf } from './reference/store.ts'
import { dayFromToday } from './reference/till.ts'

/** More than the clock of the till advances in a sequence. */
const TOTAL_DAYS = 300

/** By how much the figures differ from the events. No event was deleted. */
const FIGURES_AUDIT = `select figures.added - events.added as added, figures.sold - events.sold as sold
  from (select coalesce(sum(added), 0) as added, coalesce(sum(sold), 0) as sold from pet_figures) as figures
  cross join (
    select count(*) filter (where type = 'pet.created') as added,
      count(*) filter (where type = 'pet.updated' and event.status = 'sold' and event.changed in (4, 5, 6, 7)) as sold
    from event_numbers join outbox using (type)
    cross join lateral unnest(pet_ids, statuses, changed) as event (pet_id, status, changed)
    where outbox.id = event_numbers.outbox_id
  ) as events`

async function compareSales(session: Session, sender: Sender, timeZone: string): Promise<void> {
  const path = `/store/figures?days=3&timeZone=${timeZone}`
  const call = { operation: 'getFigures', scope: 'pets:read', method: 'GET', path }
  const { body } = await callBoth(session, sender, call, () => ({ status: 200 }))
  for (const { day, sales } of (body as { days: { day: string; sales: unknown }[] }).days) {
    requireSame(`sales of ${day} in ${timeZone}`, sales, salesOf(session.store, day, timeZone))
  }
}

export async function compareWholeState(session: Session): Promise<void> {
  // Expire the caches.
  passSecond(session)
  for (const at of [0, 1] as const) {
    const staff: Sender = { at, as: 'staff' }
    await walk(session, staff, { of: 'pets' }, undefined)
    await walk(session, staff, { of: 'orders' }, undefined)
    await walk(session, staff, { of: 'entries' }, undefined)
    await walk(session, staff, { of: 'closings' }, undefined)
    for (const by of GROUPINGS) {
      await compareTotals(session, staff, { from: dayFromToday(session.store, -TOTAL_DAYS), by })
    }
    await walk(session, staff, { of: 'categories' }, undefined)
    await listAll(session, staff)
    await walkEvents(session, staff, { limit: at === 0 ? undefined : 7 })
    await callBoth(
      session,
      staff,
      { operation: 'getInventory', scope: 'pets:read', method: 'GET', path: '/store/inventory' },
      () => ({ status: 200, body: countsOf(session.store.pets.values()) }),
    )
    for (const timeZone of ['UTC', 'Asia/Kathmandu', 'Pacific/Kiritimati']) {
      await onOneDay(() => compareSales(session, staff, timeZone), timeZone)
    }
    // Also the reads that the model knows nothing about, such as those of deprecated calls.
    for (const { id: operation, scope, path } of OPERATIONS.filter(isPlainRead)) {
      const call = { operation, scope, method: 'GET', path }
      await onOneDay(() => callBoth(session, staff, call, () => ({ status: 200 })))
    }
  }
  await walk(session, { at: 0, as: 'staff' }, { of: 'apiKeys' }, undefined)
  for (const petId of session.store.pets.keys()) {
    await walk(session, { at: petId % 2 === 0 ? 0 : 1, as: 'staff' }, { of: 'history', petId }, 100)
  }
  session.calls.push('the audit of the database')
  requireSame('audit of the database', await auditStore(session.query), [])
  requireSame('audit of the figures', await session.query(FIGURES_AUDIT), [{ added: '0', sold: '0' }])
  const start = readStart(session.feedStart) as Position
  const [{ db }] = session.instances
  const faults = await workInTime(() => auditFeedAfter(db, session.query, start.number))
  requireSame('audit of the feed', faults, [])
}
