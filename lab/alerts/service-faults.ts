// Faults of the processes of the service, and of the responses to its clients.
import { join } from 'node:path'
import { ALERTS, SLOW_SECONDS } from '../../src/telemetry/alerts.ts'
import { waitUntil } from '../parts/wait-until.ts'
import type { Environment } from './environment.ts'
import { startAndWait } from './petstore-process.ts'
import type { PlantedFault } from './planted-fault.ts'

const PRELOADED = join(import.meta.dirname, 'preloaded')
const RESTARTS = ALERTS.PetstoreRestarts.limit + 1
const DELAY_MS = SLOW_SECONDS * 1_000 + 100
const SCRAPED_TIMEOUT_MS = 60_000
const SCRAPED_POLL_MS = 500

export const SERVICE_FAULTS = {
  'requests-fail': {
    description: 'The role of the service loses the privilege to insert pets',
    expected: ['PetstoreRequestsFail'],
    plant: async ({ servers }) => {
      await servers.query('revoke insert on pets from petstore_app')
      return {}
    },
  },
  'table-locked': {
    description: 'A forgotten session locks the table of pets',
    expected: ['PetstoreRequestsFail'],
    // Each request and the sweep of holds wait for the lock before they fail.
    inhibited: ['PetstoreSlow', 'PetstoreBackgroundJobFails'],
    watchSeconds: 120,
    plant: async ({ servers }) => {
      const session = await servers.connect()
      await session.query('begin; lock table pets in access exclusive mode')
      return {}
    },
  },
  'responses-slow': {
    description: `Each response of PostgreSQL takes ${DELAY_MS} ms longer`,
    expected: ['PetstoreSlow'],
    needs: { slowNetwork: true },
    plant: async ({ network }) => {
      network?.delayResponses(DELAY_MS)
      return {}
    },
  },
  'instance-killed': {
    description: '`petstore serve` is killed and does not start again',
    expected: ['PetstoreDown'],
    plant: async ({ serve }) => {
      await serve.kill()
      return { heal: () => startAndWait(serve) }
    },
  },
  'delivery-killed': {
    description: '`petstore deliver` is killed and does not start again',
    expected: ['PetstoreDown'],
    plant: async ({ deliver }) => {
      await deliver.kill()
      return { heal: () => startAndWait(deliver) }
    },
  },
  'restart-loop': {
    description: `\`petstore serve\` is killed and started ${RESTARTS} times`,
    expected: ['PetstoreRestarts'],
    plant: async (environment) => {
      const { serve } = environment
      let since = Date.now()
      for (let restart = 1; restart <= RESTARTS; restart += 1) {
        const before = await startTime(environment)
        await serve.kill()
        await startAndWait(serve)
        since = Date.now()
        // Prometheus counts only the starts that it has seen.
        const isSeen = async () => (await startTime(environment)) !== before
        await waitUntil('the restart is scraped', SCRAPED_TIMEOUT_MS, isSeen, SCRAPED_POLL_MS)
      }
      return { since }
    },
  },
  'memory-grows': {
    description: '`petstore serve` allocates memory until it uses 480 MB',
    expected: ['PetstoreMemoryHigh'],
    needs: { preload: join(PRELOADED, 'memory-growth.ts') },
    plant: async ({ serve }) => {
      serve.signal('SIGUSR2')
      return {
        heal: async () => {
          await serve.stop()
          await startAndWait(serve)
        },
      }
    },
  },
} satisfies Record<string, PlantedFault>

/** The newest start that Prometheus has seen. A process that is down at the scrape has none. */
async function startTime({ prometheus }: Environment): Promise<number | undefined> {
  const [series] = await prometheus.query('last_over_time(process_start_time_seconds{job="petstore"}[5m])')
  return series?.values.at(-1)?.[1]
}
