// After a sequence: compares everything that clients can read, on both instances, and audits the database.
import { auditFeedAfter } from '../../support/feed-audit.ts'
import { auditStore } from '../../support/store-audit.ts'
import { walkEvents } from './commands/events.ts'
import { walk } from './commands/lists.ts'
import { type Position, readStart } from '../../../src/events/feed.ts'
import { countsOf } from './reference/store.ts'
import { type Sender, callBoth, passSecond, requireSame, type Session } from './fixture.ts'

export async function compareWholeState(session: Session): Promise<void> {
  // Expire the caches.
  passSecond(session)
  for (const at of [0, 1] as const) {
    const staff: Sender = { at, as: 'staff' }
    await walk(session, staff, { of: 'pets' }, undefined)
    await walk(session, staff, { of: 'orders' }, undefined)
    await walk(session, staff, { of: 'categories' }, undefined)
    await walkEvents(session, staff, { limit: at === 0 ? undefined : 7 })
    await callBoth(
      session,
      staff,
      { operation: 'getInventory', scope: 'pets:read', method: 'GET', path: '/store/inventory' },
      () => ({ status: 200, body: countsOf(session.store.pets.values()) }),
    )
  }
  await walk(session, { at: 0, as: 'staff' }, { of: 'apiKeys' }, undefined)
  for (const petId of session.store.pets.keys()) {
    await walk(session, { at: petId % 2 === 0 ? 0 : 1, as: 'staff' }, { of: 'history', petId }, 100)
  }
  session.calls.push('the audit of the database')
  requireSame('audit of the database', await auditStore(session.query), [])
  const start = readStart(session.feedStart) as Position
  const faults = await auditFeedAfter(session.instances[0].db, session.query, start.number)
  requireSame('audit of the feed', faults, [])
}
