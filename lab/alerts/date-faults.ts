// Faults that a date announces: certificates and keys that expire, backups that were not checked, operations that end.
import { join } from 'node:path'
import { ALERTS, DAY_SECONDS } from '../../src/telemetry/alerts.ts'
import { waitUntil } from '../parts/wait-until.ts'
import type { Environment } from './environment.ts'
import type { PlantedFault } from './planted-fault.ts'
import { endSessions } from './servers.ts'
import { send } from './steady-load.ts'

const CERTIFICATE_DAYS = 400
const UNPROVEN_DAYS = ALERTS.PetstoreRestoreNotProven.limit / DAY_SECONDS
const USAGE_TIMEOUT_MS = 120_000
const USAGE_POLL_MS = 500
const VERIFY_FOUND_FAULTS = 1

export const DATE_FAULTS = {
  'key-expires': {
    description: 'An API key that a program uses is rotated, and expires in 6 days',
    expected: ['PetstoreApiKeyExpires'],
    plant: async ({ servers, run }) => {
      const [key] = await servers.query<{ id: string }>('select id from api_keys')
      await run('petstore_app', ['api-keys', 'rotate', String(key?.id), '--overlap', '6d'])
      return { since: Date.now() }
    },
  },
  'certificate-expires': {
    description: 'PostgreSQL gets a certificate that expires in 10 days',
    expected: ['PetstoreCertificateExpires'],
    needs: { tls: true },
    plant: async (environment) => {
      await useCertificate(environment, 10)
      return { heal: () => useCertificate(environment, CERTIFICATE_DAYS) }
    },
  },
  'restore-check-fails': {
    description: 'The check of the newest backup finds an empty database',
    expected: ['PetstoreRestoreNotProven'],
    plant: async (environment) => {
      await recordFailedCheck(environment)
      return { since: Date.now(), heal: () => recordCheck(environment) }
    },
  },
  'restore-check-missing': {
    description: `The last check that proved a backup was ${UNPROVEN_DAYS} days ago`,
    expected: ['PetstoreRestoreNotProven'],
    plant: async (environment) => {
      await environment.servers.query(
        `update restore_checks set checked_at = now() - interval '${UNPROVEN_DAYS} days'`,
      )
      return { heal: () => recordCheck(environment) }
    },
  },
  'removal-near': {
    description: 'A program calls an operation that is removed in 60 days',
    expected: ['PetstoreRemovalNear'],
    needs: { preload: join(import.meta.dirname, 'preloaded/near-removal.ts') },
    plant: async ({ servers, store }) => {
      await send(store, 'GET', '/pets/1')
      // The service writes the number of calls once a minute.
      const isWritten = async () => (await servers.query('select from deprecated_calls')).length > 0
      await waitUntil('the calls are written', USAGE_TIMEOUT_MS, isWritten, USAGE_POLL_MS)
      return { since: Date.now() }
    },
  },
} satisfies Record<string, PlantedFault>

/** The service sees the certificate on its next connections. Without the last statement, that takes up to 5 minutes. */
async function useCertificate({ certificates, servers }: Environment, days: number): Promise<void> {
  certificates?.replace(days)
  await servers.query('select pg_reload_conf()')
  await endSessions(servers, 'petstore_app')
}

const recordCheck = ({ run }: Environment) => run('petstore_verify', ['verify', '--record', 'proven'])

/** Verifies an empty database, as the daily check does with a restored backup. */
async function recordFailedCheck({ servers, run }: Environment): Promise<void> {
  await servers.query('create database empty')
  const empty = `postgres://petstore_verify@127.0.0.1:${servers.primary.port}/empty`
  await run('petstore_verify', ['verify', '--record', 'empty'], VERIFY_FOUND_FAULTS, empty)
}
