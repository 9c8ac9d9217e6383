// Faults of PostgreSQL: the primary, its standbys, and sessions that hold locks which background jobs need.
import { QUERY_TIMEOUT_MS } from '../../src/db/connection/deadlines.ts'
import { ALERTS } from '../../src/telemetry/alerts.ts'
import type { PlantedFault } from './planted-fault.ts'
import { endSessions } from './servers.ts'
import { create } from './steady-load.ts'

/** The alert of the database and that of stalled writes keep firing for the same time. */
const KEPT_SECONDS = ALERTS.PetstoreDatabaseUnreachable.keepFiringSeconds + 120
/** Long enough for every alert on requests to fire. */
const CONSEQUENCES_SECONDS = 150

export const DATABASE_FAULTS = {
  'database-stopped': {
    description: 'PostgreSQL is stopped',
    expected: ['PetstoreDatabaseUnreachable'],
    inhibited: ['PetstoreRequestsFail', 'PetstoreSlow', 'PetstoreBackgroundJobFails'],
    trueAfterSeconds: ALERTS.PetstoreDatabaseUnreachable.limit,
    watchSeconds: CONSEQUENCES_SECONDS,
    resolvedWithinSeconds: KEPT_SECONDS,
    plant: async ({ servers }) => {
      await servers.primary.stop()
      return { heal: servers.primary.start }
    },
  },
  'database-frozen': {
    description: 'All processes of PostgreSQL stop running, but keep their connections',
    expected: ['PetstoreDatabaseUnreachable'],
    inhibited: ['PetstoreRequestsFail', 'PetstoreSlow', 'PetstoreBackgroundJobFails'],
    trueAfterSeconds: ALERTS.PetstoreDatabaseUnreachable.limit,
    watchSeconds: CONSEQUENCES_SECONDS,
    resolvedWithinSeconds: KEPT_SECONDS,
    plant: async ({ servers }) => {
      servers.primary.freeze()
      return { heal: async () => servers.primary.thaw() }
    },
  },
  'writes-stalled': {
    description: 'Both standbys are stopped, and writes wait for one',
    expected: ['PetstoreWritesStalled'],
    inhibited: [
      'PetstoreRequestsFail',
      'PetstoreSlow',
      'PetstoreFeedLate',
      'PetstoreHoldsNotSwept',
      'PetstoreReplicationNotProtecting',
      'PetstoreBackgroundJobFails',
    ],
    needs: { standbys: 2 },
    trueAfterSeconds: QUERY_TIMEOUT_MS / 1_000,
    watchSeconds: CONSEQUENCES_SECONDS,
    resolvedWithinSeconds: KEPT_SECONDS,
    plant: async ({ servers: { standbys } }) => {
      await Promise.all(standbys.map((standby) => standby.stop()))
      return { heal: () => Promise.all(standbys.map((standby) => standby.start())) }
    },
  },
  'standby-lost': {
    description: 'One of two standbys is stopped',
    expected: ['PetstoreReplicationNotProtecting'],
    needs: { standbys: 2 },
    plant: async ({ servers }) => {
      const [standby] = servers.standbys
      await standby?.stop()
      return { heal: async () => standby?.start() }
    },
  },
  'replication-asynchronous': {
    description: 'Commits no longer wait for the standbys: `synchronous_commit = local`',
    expected: ['PetstoreReplicationNotProtecting'],
    needs: { standbys: 2 },
    plant: async ({ servers: { query } }) => {
      await query('alter system set synchronous_commit = local')
      await query('select pg_reload_conf()')
      return {
        heal: async () => {
          await query('alter system reset synchronous_commit')
          await query('select pg_reload_conf()')
        },
      }
    },
  },
  'archive-full': {
    description: 'PostgreSQL can no longer archive WAL, as if the disk of the backups were full',
    expected: ['PetstoreArchivingFails'],
    needs: { settings: { archive_mode: 'on' } },
    plant: async ({ servers: { query } }) => {
      const archiveWith = async (command: string) => {
        await query(`alter system set archive_command = '${command}'`)
        await query('select pg_reload_conf()')
        await query('select pg_switch_wal()')
      }
      await archiveWith('false')
      return { heal: () => archiveWith('true') }
    },
  },
  'sequencer-blocked': {
    description: 'A session holds the lock of the sequencer, so no event gets a number',
    expected: ['PetstoreFeedLate'],
    trueAfterSeconds: ALERTS.PetstoreFeedLate.limit,
    plant: async ({ servers }) => {
      const session = await servers.connect()
      await session.query(`select pg_advisory_lock(hashtext('petstore sequence events'))`)
      return { heal: () => session.end() }
    },
  },
  'sweep-blocked': {
    description: 'A session locks a pet whose hold expires, so the hold is not swept',
    expected: ['PetstoreHoldsNotSwept'],
    trueAfterSeconds: ALERTS.PetstoreHoldsNotSwept.limit,
    plant: async ({ servers, store }) => {
      const pet = await create<{ id: number }>(store, '/pets', { name: 'Locked', categoryId: 1 })
      const order = { petId: pet.id, holdMinutes: 1 }
      const { expiresAt } = await create<{ expiresAt: string }>(store, '/store/orders', order)
      const session = await servers.connect()
      await session.query(`begin; select from pets where id = ${pet.id} for update`)
      return { since: Date.parse(expiresAt), heal: () => session.end() }
    },
  },
  'job-fails': {
    description: 'The role of the service can no longer read a table that a background job needs',
    expected: ['PetstoreBackgroundJobFails'],
    trueAfterSeconds: ALERTS.PetstoreBackgroundJobFails.limit,
    plant: async ({ servers }) => {
      await servers.query('revoke select on deprecated_calls from petstore_app')
      return { heal: () => servers.query('grant select on deprecated_calls to petstore_app') }
    },
  },
  'delivery-cut-off': {
    description: 'The role of `petstore deliver` can no longer connect',
    expected: ['PetstoreBackgroundJobFails'],
    trueAfterSeconds: ALERTS.PetstoreBackgroundJobFails.limit,
    plant: async ({ servers }) => {
      await servers.query('alter role petstore_deliver nologin')
      await endSessions(servers, 'petstore_deliver')
      return { heal: () => servers.query('alter role petstore_deliver login') }
    },
  },
  'webhook-receiver-fails': {
    description: 'The receiver of a webhook returns 500 for every message',
    expected: ['PetstoreWebhookLate'],
    trueAfterSeconds: ALERTS.PetstoreWebhookLate.limit,
    plant: async ({ receiver }) => {
      receiver.setWebhookStatus(500)
      return {}
    },
  },
} satisfies Record<string, PlantedFault>
