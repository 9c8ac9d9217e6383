// Runs all checks of `petstore verify` on one snapshot of the database. Changes nothing.
import type { Client } from 'pg'
import { liftTimeouts } from '../../db/connection/pool.ts'
import { INSUFFICIENT_PRIVILEGE } from '../../db/connection/sqlstates.ts'
import { readSchemaState } from '../../db/migrations/migrate.ts'
import { NEWEST_CHANGE_AT } from '../../events/feed/queries.ts'
import {
  applyRules,
  type Check,
  type CheckResult,
  RESTORE_ANOTHER,
  type Finding,
  type Snapshot,
} from './check.ts'
import { FEED_RULES, WEBHOOK_RULES } from './feed.ts'
import { checkObjects } from './objects.ts'
import { checkChecksums, checkRows } from './rows.ts'
import { checkSequences } from './sequences.ts'
import { TILL_RULES } from './till.ts'
import { ACTOR_RULES, HISTORY_RULES, INVENTORY_RULES, ORDER_RULES, SETTINGS_RULES } from './store.ts'

const CHECKS: readonly Check[] = [
  { name: 'schema', isRequired: true, run: checkSchema },
  { name: 'objects', run: checkObjects },
  { name: 'checksums', run: checkChecksums },
  { name: 'rows', run: checkRows },
  {
    name: 'settings',
    run: (snapshot) =>
      applyRules(
        snapshot,
        SETTINGS_RULES,
        'the shop has its settings, and a time zone that PostgreSQL knows',
      ),
  },
  {
    name: 'inventory',
    run: (snapshot) => applyRules(snapshot, INVENTORY_RULES, 'the counts equal the number of pets'),
  },
  {
    name: 'orders',
    run: (snapshot) =>
      applyRules(snapshot, ORDER_RULES, 'each order has its pet, and each pet at most one open order'),
  },
  {
    name: 'till',
    run: (snapshot) => applyRules(snapshot, TILL_RULES, 'each sale has its entry, and all entries add up'),
  },
  {
    name: 'history',
    run: (snapshot) =>
      applyRules(snapshot, HISTORY_RULES, 'each change of a pet and of an order has its entry'),
  },
  {
    name: 'actors',
    run: (snapshot) => applyRules(snapshot, ACTOR_RULES, 'the actor of each change exists'),
  },
  {
    name: 'events',
    run: (snapshot) => applyRules(snapshot, FEED_RULES, 'each event has its number, without gaps'),
  },
  {
    name: 'webhooks',
    run: (snapshot) => applyRules(snapshot, WEBHOOK_RULES, 'each webhook has a secret and a valid position'),
  },
  { name: 'sequences', run: checkSequences },
]

export interface VerifyOptions {
  onStart: (check: string) => void
  onProgress: (bytes: number, bytesTotal: number) => void
  onFinding: (finding: CheckResult) => void
}

/** Returns true if no check found a fault. */
export async function verifyDatabase(
  client: Client,
  { onStart, onProgress, onFinding }: VerifyOptions,
): Promise<boolean> {
  await liftTimeouts(client)
  await client.query('begin isolation level repeatable read, read only')
  // A damaged index must not hide damaged rows: read the tables themselves.
  await client.query(
    'set local enable_indexscan = off; set local enable_indexonlyscan = off; set local enable_bitmapscan = off',
  )
  const snapshot = openSnapshot(client, onProgress)
  let isConsistent = true
  for (const { name, isRequired, run } of CHECKS) {
    onStart(name)
    const startedAt = performance.now()
    const { result, isUsable } = await runCheck(snapshot, run)
    onFinding({ check: name, ...result, durationMs: Math.round(performance.now() - startedAt) })
    const hasFailed = result.state === 'fault'
    if (hasFailed) isConsistent = false
    if (!isUsable || (hasFailed && isRequired)) break
  }
  return isConsistent
}

/**
 * The time of the newest change in a restored database: of the last commit that PostgreSQL replayed or, if it replayed
 * none, of the newest event. Null if the database has no events.
 */
export async function readRecoveredTo(client: Client): Promise<Date | null> {
  const { rows } = await client.query<{ at: Date | null }>(
    `select coalesce(pg_last_xact_replay_timestamp(), ${NEWEST_CHANGE_AT}) as at`,
  )
  return rows[0]?.at ?? null
}

function openSnapshot(client: Client, onProgress: Snapshot['onProgress']): Snapshot {
  return {
    read: async ({ text, values }) => (await client.query(text, values)).rows,
    query: async (text, values) => (await client.query(text, values)).rows,
    onProgress,
    attempt: async (work) => {
      await client.query('savepoint attempt')
      try {
        return await work()
      } catch (error) {
        await client.query('rollback to savepoint attempt')
        throw error
      } finally {
        await client.query('release savepoint attempt').catch(() => {})
      }
    },
  }
}

/** A check that cannot read its tables has failed. Without a connection, no further check can run. */
async function runCheck(
  snapshot: Snapshot,
  run: Check['run'],
): Promise<{ result: Finding; isUsable: boolean }> {
  try {
    return { result: await snapshot.attempt(() => run(snapshot)), isUsable: true }
  } catch (error) {
    const { message, code } = error as Error & { code?: string }
    const isUsable = await snapshot.query('select').then(
      () => true,
      () => false,
    )
    return {
      result: { state: 'fault', message: `cannot check: ${message}`, remedy: remedyFor(code) },
      isUsable,
    }
  }
}

function remedyFor(code: string | undefined): string {
  if (code === INSUFFICIENT_PRIVILEGE) {
    return 'Set DATABASE_URL to the role petstore_verify. If that is the role, run `petstore migrate`.'
  }
  // PostgreSQL reports damaged data and internal errors with these classes.
  if (code?.startsWith('XX') || code?.startsWith('22')) return RESTORE_ANOTHER
  return `Read the log of PostgreSQL, and run the command again. If it fails again: ${RESTORE_ANOTHER}`
}

/** The other checks read tables of exactly this version. */
async function checkSchema(snapshot: Snapshot): Promise<Finding> {
  const { version, missing, unknown } = await readSchemaState(snapshot)
  if (unknown.length > 0) {
    return {
      state: 'fault',
      message: `the database has migrations of a newer version of Petstore: ${unknown.join(', ')}. The other checks were not run`,
      remedy: 'Install the version of Petstore that made the backup, and run the command again.',
    }
  }
  if (missing.length > 0) {
    return {
      state: 'fault',
      message: `missing migrations: ${missing.join(', ')}. The other checks were not run`,
      remedy:
        'Run: petstore migrate. If the backup is from this version of Petstore, the restore was incomplete.',
    }
  }
  return { state: 'ok', message: `up to date (${version})` }
}
