// The checks `events`, `holds`, `api-keys` and `deprecations`: values of the database that alerts watch, under the same limits.
import type { Reader } from '../../db/database.ts'
import { findFeedState } from '../../events/feed/queries.ts'
import { canReadStoreState, readStoreState, type StoreState } from '../../server/store-metrics/queries.ts'
import { REMOVALS } from '../../store/pets/deprecation.ts'
import { countOf } from '../../values/count-text.ts'
import { judge } from './alert-limits.ts'
import { ageOf, type Finding } from './finding.ts'

/** Finds nothing if the tables cannot be read: the checks of the schema and of the privileges then say why. */
export async function checkStore(db: Reader): Promise<Finding[]> {
  if (!(await canReadStoreState(db))) return []
  const { overdueSeconds, nextKeyExpiry, deprecatedCalls } = await readStoreState(db)
  const { unnumberedSeconds } = await findFeedState(db)
  return [
    judge('PetstoreFeedLate', unnumberedSeconds, {
      ok: 'all changes become events in time',
      beyond: (late) => `the oldest change without an event is ${ageOf(late)} old`,
      step: 'Start petstore serve. If it is running, look for "sequence events" in its log.',
    }),
    judge('PetstoreHoldsNotSwept', overdueSeconds, {
      ok: 'expired holds are released in time',
      beyond: (overdue) =>
        `the oldest expired hold is ${ageOf(overdue)} overdue, and its pet is still on hold`,
      step: 'Start petstore serve. If it is running, look for "sweep expired holds" in its log.',
    }),
    judge('PetstoreApiKeyExpires', nextKeyExpiry && (nextKeyExpiry.getTime() - Date.now()) / 1_000, {
      ok: 'no API key that a program uses expires soon',
      beyond: (left) => `an API key that a program uses expires in ${ageOf(left)}`,
      step: 'Run: petstore api-keys list, then petstore api-keys rotate ID.',
    }),
    ...judgeRemovals(deprecatedCalls),
  ]
}

/** Only operations that programs called today. */
function judgeRemovals(calls: StoreState['deprecatedCalls']): Finding[] {
  return Object.entries(REMOVALS).map(([operation, removal]) => {
    const callsToday = calls[operation] ?? 0
    const secondsLeft = (removal.getTime() - Date.now()) / 1_000
    return judge('PetstoreRemovalNear', callsToday === 0 ? null : secondsLeft, {
      ok: `no program depends on the removal of ${operation}`,
      beyond: (left) =>
        `${operation} is removed in ${ageOf(left)}, and programs called it ${countOf(callsToday, 'time')} today`,
      step: 'Find the API keys of these programs, and tell their owners.',
    })
  })
}
