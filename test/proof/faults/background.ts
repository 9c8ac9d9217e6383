// Background work of the service, and writes that only the command line and the demo make.
import { upsertHealthReport } from '../../../src/server/health/queries.ts'
import { randomUUID } from 'node:crypto'
import { createApiKey } from '../../../src/access/api-keys/api-keys.ts'
import { DEFAULT_SCOPES } from '../../../src/contract/scopes.ts'
import {
  canReadRestoreChecks,
  deleteOldRestoreChecks,
  insertRestoreCheck,
  listRestoreChecks,
  readRestoreState,
} from '../../../src/data/verify/restore-check-queries.ts'
import { commitBarrier, insertEpoch } from '../../../src/events/feed/queries.ts'
import { purgeEvents, sequenceDueEvents } from '../../../src/events/feed/sequencer.ts'
import { canReadStoreState, readStoreState } from '../../../src/server/store-metrics/queries.ts'
import { upsertCategories } from '../../../src/store/categories/queries.ts'
import { purgeFigures } from '../../../src/store/figures/figures.ts'
import { purgeIdempotencyKeys } from '../../../src/store/idempotency/idempotency.ts'
import { foldAllCounts } from '../../../src/store/inventory/inventory.ts'
import { deleteEmptyCounts } from '../../../src/store/inventory/queries.ts'
import { type Operation, outcomeOfWork } from './operation.ts'

const RETENTION_SECONDS = 30 * 86_400

export const BACKGROUND: Operation[] = [
  {
    name: 'sweeping expired holds',
    prepare: async ({ api, query, holds }) => {
      const { id, petId } = await api.hold()
      await api.makeOverdue(id)
      return {
        run: () => outcomeOfWork(holds.sweep()),
        effects: () =>
          query(`select count(*) from pet_history where pet_id = $1 and event = 'order_expired'`, [petId]),
      }
    },
  },
  {
    name: 'measuring the store',
    prepare: async ({ db }) => ({
      run: async () => {
        const state = await outcomeOfWork(readStoreState(db))
        const privilege = await outcomeOfWork(canReadStoreState(db))
        return [state, privilege].find((outcome) => outcome !== 'done') ?? 'done'
      },
    }),
  },
  {
    name: 'reading restore checks',
    prepare: async ({ db }) => ({
      // One after the other: together, they would sometimes open a second connection.
      run: async () => {
        const state = await outcomeOfWork(readRestoreState(db))
        const list = await outcomeOfWork(listRestoreChecks(db, 1))
        const privilege = await outcomeOfWork(canReadRestoreChecks(db))
        return [state, list, privilege].find((outcome) => outcome !== 'done') ?? 'done'
      },
    }),
  },
  {
    name: 'recording a restore check',
    commits: 'insert_restore_check',
    prepare: async ({ query, db }) => {
      const backup = randomUUID()
      const proven = { repository: 1, backup, recoveredTo: null, isProven: true }
      const recorded = { ...proven, durationMs: 1, message: 'ok' }
      return {
        run: () => outcomeOfWork(insertRestoreCheck(db, recorded)),
        effects: () => query('select count(*) from restore_checks where backup = $1', [backup]),
      }
    },
  },
  {
    // Without effects: the statement is idempotent.
    name: 'recording a report of a timer',
    prepare: async ({ db }) => {
      const report = { name: 'disk', at: null, usedBytes: 1n, totalBytes: 2n, note: null } as const
      return { run: () => outcomeOfWork(upsertHealthReport(db, report)) }
    },
  },
  {
    // Without effects: the statement is idempotent.
    name: 'deleting old restore checks',
    prepare: async ({ db }) => ({ run: () => outcomeOfWork(deleteOldRestoreChecks(db, 1_000)) }),
  },
  {
    name: 'writing usage',
    commits: 'commit',
    forgetsUnknown: true,
    prepare: async ({ api, query, usage, db }) => {
      const name = randomUUID()
      const made = await createApiKey(api.db, 'production', {
        name,
        scopes: DEFAULT_SCOPES,
        rateLimit: undefined,
        expiresInSeconds: undefined,
      })
      const caller = { id: made.id, name, scopes: DEFAULT_SCOPES, rateLimit: undefined }
      usage.noteCall(caller)
      usage.noteDeprecatedCall(caller, 'getPet')
      return {
        run: () => outcomeOfWork(usage.flush(db)),
        effects: () =>
          query('select coalesce(sum(calls), 0) from deprecated_calls where api_key_id = $1', [made.id]),
      }
    },
  },
  {
    name: 'folding counts',
    commits: 'commit',
    isIdempotent: true,
    prepare: async ({ api, db }) => {
      await api.addPet()
      return { run: () => outcomeOfWork(foldAllCounts(db)) }
    },
  },
  {
    name: 'deleting empty counts',
    commits: 'delete_empty_counts',
    isIdempotent: true,
    prepare: async ({ db }) => ({ run: () => outcomeOfWork(deleteEmptyCounts(db)) }),
  },
  {
    name: 'purging idempotency keys',
    commits: 'purge_stored_responses',
    isIdempotent: true,
    prepare: async ({ api, query, db }) => {
      const key = randomUUID()
      await api.post('/pets', { name: 'Old', categoryId: 1 }, { 'idempotency-key': key })
      await api.sql(`update idempotency_keys set created_at = now() - interval '2 days' where key = $1`, [
        key,
      ])
      return {
        run: () => outcomeOfWork(purgeIdempotencyKeys(db)),
        effects: async () => 1 - (await query('select count(*) from idempotency_keys where key = $1', [key])),
      }
    },
  },
  {
    // Without effects: a retry may find the lock still held by the lost connection. The next run then numbers the events.
    name: 'numbering events',
    commits: 'commit',
    isIdempotent: true,
    prepare: async ({ api, db }) => {
      await api.addPet()
      return { run: () => outcomeOfWork(sequenceDueEvents(db)) }
    },
  },
  {
    name: 'purging events',
    prepare: async ({ api, query, db }) => {
      // Below all other ids and numbers, so that no event of the store is purged: the audit reads them all.
      const id = -Number(`0x${randomUUID().slice(0, 8)}`) - 1
      await api.sql(
        `with expired as (
          insert into outbox (id, at, type, count, pet_ids) overriding system value
          values (${id}, now() - interval '40 days', 'pet.deleted', 1, '{1}') returning id, type
        )
        insert into event_numbers (first_number, outbox_id, type, count) select id, id, type, 1 from expired`,
      )
      const countLeft = () =>
        query(
          `select count(*) from outbox full join event_numbers on outbox.id = outbox_id
            where coalesce(outbox.id, outbox_id) = $1`,
          [id],
        )
      return {
        // Without effects: the statement is idempotent, so the service may report `unavailable` although it has run.
        run: async () => {
          const outcome = await outcomeOfWork(purgeEvents(db, RETENTION_SECONDS, BigInt(id)))
          if (outcome === 'done' && (await countLeft()) > 0)
            throw new Error('an expired event is still stored')
          return outcome
        },
      }
    },
  },
  {
    name: 'purging figures',
    prepare: async ({ api, db }) => {
      await api.sql(
        `insert into pet_figures (starts_at, added, sold) values (now() - random() * interval '1 day' - interval '101 days', 1, 0)`,
      )
      return {
        // Without effects, for the same reason as above.
        run: async () => {
          const outcome = await outcomeOfWork(purgeFigures(db))
          const left = await api.sql(`select from pet_figures where starts_at < now() - interval '100 days'`)
          if (outcome === 'done' && left.length > 0) throw new Error('old figures are still stored')
          return outcome
        },
      }
    },
  },
  {
    name: 'waiting until the standbys have the events',
    commits: 'commit_barrier',
    isIdempotent: true,
    prepare: async ({ db }) => ({ run: () => outcomeOfWork(commitBarrier(db)) }),
  },
  {
    // Without effects: a second new epoch does no harm.
    name: 'starting an epoch of the feed',
    prepare: async ({ db }) => ({ run: () => outcomeOfWork(insertEpoch(db)) }),
  },
  {
    name: 'upserting categories',
    commits: 'upsert_categories',
    isIdempotent: true,
    prepare: async ({ query, db }) => {
      const name = randomUUID()
      const id = BigInt(`0x${name.slice(0, 8)}`) + 10_000_000_000n
      return {
        run: () => outcomeOfWork(upsertCategories(db, [{ id, name }])),
        effects: () => query('select count(*) from categories where name = $1', [name]),
      }
    },
  },
]
