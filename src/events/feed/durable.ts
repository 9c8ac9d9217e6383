// Reads events only if a failover cannot lose them.
//
// Synchronous replication hides a commit until a standby has it. There is an exception: PostgreSQL cancels these waits
// when it shuts down, and shows the commits for some milliseconds. Without this file, a reader could get events whose
// numbers belong to other events after the failover.
import type { ByteBudget } from '../../contract/byte-budget.ts'
import { AppError } from '../../contract/errors.ts'
import { batchTrace } from '../../db/batch-spans.ts'
import { batched } from '../../db/batch.ts'
import type { Db } from '../../db/database.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import { commitBarrier, type EventsPage, findEvents } from './queries.ts'
import type { EventType } from './schema.ts'

const ATTEMPTS_MAX = 3
const BARRIERS = { sizeMax: 1_000, inFlightMax: 1, waitingMax: 1_000 }

/** Returns a page of events, all of which are on the synchronous standbys, if there are any. */
export type FindDurableEvents = (
  types: readonly EventType[],
  after: bigint,
  max: number,
  maxBytes?: number,
) => Promise<EventsPage>

/** @param budget For the pages that wait until the standbys have them, which can take seconds. */
export function durableEvents(db: Db, tracing?: Tracing, budget?: ByteBudget): FindDurableEvents {
  /** The events up to this number are known to be on the standbys. */
  let durable = { epoch: '', number: 0n }
  /** Commits on the primary, after which the standbys have all earlier commits. Returns which server has committed. */
  const commit = batched(
    async (waiting: undefined[]) => {
      const server = await commitBarrier(db)
      return waiting.map(() => server)
    },
    BARRIERS,
    undefined,
    batchTrace(tracing, 'commitBarrier'),
  )

  async function isDurable({ epoch, head, server, isFull, bytes, rows }: EventsPage): Promise<boolean> {
    if (server === null) return true
    // The reader learns the last number of a full page, otherwise the newest number of the feed.
    const shown = (isFull ? rows.at(-1)?.number : undefined) ?? head
    if (epoch === durable.epoch && shown <= durable.number) return true
    const release = budget === undefined ? () => {} : budget.take(bytes)
    if (release === undefined) throw new AppError('overloaded')
    const committed = await commit(undefined)
      .catch((cause: unknown) => {
        throw new AppError('unavailable', { cause })
      })
      .finally(release)
    if (committed !== server) return false
    if (epoch !== durable.epoch || head > durable.number) durable = { epoch, number: head }
    return true
  }

  return async (types, after, max, maxBytes) => {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const page = await findEvents(db, types, after, max, maxBytes)
      if (await isDurable(page)) return page
    }
    throw new AppError('unavailable')
  }
}
