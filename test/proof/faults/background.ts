// The work of the service that no request asks for, and what only the command line and the demo write.
import { randomUUID } from 'node:crypto'
import { createApiKey } from '../../../src/api-keys/api-keys.ts'
import { DEFAULT_SCOPES } from '../../../src/scopes.ts'
import { upsertCategories } from '../../../src/categories/queries.ts'
import { purgeIdempotencyKeys } from '../../../src/idempotency/idempotency.ts'
import { foldAllCounts } from '../../../src/inventory/inventory.ts'
import { deleteEmptyCounts } from '../../../src/inventory/queries.ts'
import { type Operation, outcomeOfWork } from './operation.ts'

export const BACKGROUND: Operation[] = [
  {
    name: 'ending holds',
    prepare: async ({ api, look, holds }) => {
      const { id, petId } = await api.hold()
      await api.makeOverdue(id)
      return {
        run: () => outcomeOfWork(holds.sweep()),
        effects: () =>
          look(`select count(*) from pet_history where pet_id = $1 and event = 'order_expired'`, [petId]),
      }
    },
  },
  {
    name: 'writing usage',
    commits: 'commit',
    forgetsUnknown: true,
    prepare: async ({ api, look, usage, db }) => {
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
          look('select coalesce(sum(calls), 0) from deprecated_calls where api_key_id = $1', [made.id]),
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
    name: 'forgetting empty categories',
    commits: 'delete_empty_counts',
    isIdempotent: true,
    prepare: async ({ db }) => ({ run: () => outcomeOfWork(deleteEmptyCounts(db)) }),
  },
  {
    name: 'purging idempotency keys',
    commits: 'purge_kept_answers',
    isIdempotent: true,
    prepare: async ({ api, look, db }) => {
      const key = randomUUID()
      await api.post('/pets', { name: 'Old', categoryId: 1 }, { 'idempotency-key': key })
      await api.sql(`update idempotency_keys set created_at = now() - interval '2 days' where key = $1`, [
        key,
      ])
      return {
        run: () => outcomeOfWork(purgeIdempotencyKeys(db)),
        effects: async () => 1 - (await look('select count(*) from idempotency_keys where key = $1', [key])),
      }
    },
  },
  {
    name: 'naming many categories',
    commits: 'upsert_categories',
    isIdempotent: true,
    prepare: async ({ look, db }) => {
      const name = randomUUID()
      const id = BigInt(`0x${name.slice(0, 8)}`) + 10_000_000_000n
      return {
        run: () => outcomeOfWork(upsertCategories(db, [{ id, name }])),
        effects: () => look('select count(*) from categories where name = $1', [name]),
      }
    },
  },
]
