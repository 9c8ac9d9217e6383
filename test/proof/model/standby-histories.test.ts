// Two processes that read from standbys respond as if all operations ran one after another on one server (linearizability).
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { hostOf } from '../../../src/config/database-url.ts'
import { SCOPES } from '../../../src/contract/scopes.ts'
import { issueApiKey } from '../../support/app.ts'
import { sql } from '../../support/database.ts'
import { findContradiction } from '../../support/linearizability.ts'
import { startStandbyCluster } from '../../support/standby-cluster.ts'
import { openStandbyFixture, setReplay } from '../../support/standby-fixture.ts'
import { auditStore, findSoldTwice } from '../../support/store-audit.ts'
import { replayWith, SCALE, SEED } from '../seed.ts'
import { type HotPet, keepPetsHot } from './hot-pets.ts'
import { describeOperation, specificationOf } from './pet.ts'

const FILE = 'test/proof/model/standby-histories.test.ts'
const REPLAY = `seed ${SEED}; run with the same choices: ${replayWith(FILE)}`
const NAME = 'buyer'
const CLIENTS = 16
const OPERATIONS = Math.ceil(2_000 * SCALE)
/** One standby shows each commit this much later than the other one. */
const LATE_MS = 20
/** The other one is paused for this long, so that reads in flight find it late. */
const PAUSED_MS = 100

const cluster = await startStandbyCluster()
const [prompt, delayed] = cluster.standbys
await sql(delayed.url, `alter system set recovery_min_apply_delay = '${LATE_MS}ms'`)
await sql(delayed.url, 'select pg_reload_conf()')
const patient = await openStandbyFixture(cluster)
/** Often reads the primary. */
const hasty = await openStandbyFixture(cluster, { limits: { replayMs: 2 * LATE_MS } })

async function pauseAgainAndAgain(until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    await setReplay([prompt], 'paused')
    await sleep(PAUSED_MS)
    await setReplay([prompt], 'not paused')
    await sleep(2 * PAUSED_MS)
  }
}

test('the history of every pet is linearizable, whichever server is read (16 clients, two processes)', async () => {
  const { text: apiKey } = await issueApiKey(patient.db, { name: NAME, scopes: SCOPES })
  for (const { warmUp } of [patient, hasty]) await warmUp(cluster.standbys)
  const stop = new AbortController()
  const pausing = pauseAgainAndAgain(stop.signal)
  const origins = [patient, hasty].map(({ api }) => api.origin)
  const pets = await keepPetsHot({ origins, apiKey, clients: CLIENTS, operations: OPERATIONS, seed: SEED })
  stop.abort()
  await pausing
  const told = [...patient.told, ...hasty.told]
  const reads = (target: string) => told.filter((text) => text === `read ${target}`).length
  const [fromPrompt, fromDelayed, fromPrimary] = [hostOf(prompt.url), hostOf(delayed.url), 'primary'].map(
    reads,
  )
  console.log(`standby histories, seed ${SEED}`, {
    operations: pets.reduce((sum, { history }) => sum + history.length, 0),
    pets: pets.length,
    reads: { fromPrompt, fromDelayed, fromPrimary },
  })
  expect(findFirstContradiction(pets), REPLAY).toBeUndefined()
  expect(told).not.toContain('unfenced')
  for (const count of [fromPrompt, fromDelayed, fromPrimary]) expect(count).toBeGreaterThan(0)
  expect(await findSoldTwice(cluster.primary.url), REPLAY).toEqual([])
  expect(await auditStore(cluster.primary.url), REPLAY).toEqual([])
})

/** Only the first one: to find that a history has no order takes much longer than to find an order. */
function findFirstContradiction(pets: readonly HotPet[]): string[] | undefined {
  for (const pet of pets) {
    const stuck = findContradiction(pet.history, specificationOf(pet, NAME))
    if (stuck !== undefined) {
      const before = stuck.longest.slice(-8).map(describeOperation)
      const candidates = stuck.candidates.map(describeOperation)
      return [`pet ${pet.id}: after`, ...before, 'none of these can be next:', ...candidates]
    }
  }
  return undefined
}
