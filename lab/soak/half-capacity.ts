// Sets the load to half of what the service and its cluster can serve on this host.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Load } from '../load/load.ts'

const WARM_UP_MS = 10_000
const SETTLE_MS = 3_000
const MEASURED_MS = 15_000
const WITHOUT_PAUSES = 0
const ADJUSTMENTS = 3

export interface Rates {
  /** Responses per second if no client pauses between two requests. */
  capacity: number
  /** Responses per second after the load was set. */
  soak: number
}

type PacedLoad = Pick<Load, 'setPace'> & { client: Pick<Load['client'], 'responses'> }

export async function setHalfCapacity(load: PacedLoad): Promise<Rates> {
  await sleep(WARM_UP_MS)
  const usual = await responsesPerSecond(load)
  load.setPace(WITHOUT_PAUSES)
  await sleep(SETTLE_MS)
  const capacity = await responsesPerSecond(load)
  if (capacity === 0) throw new Error('The service returned no response while its capacity was measured.')
  let [factor, rate] = [1, usual]
  for (let adjusted = 0; adjusted < ADJUSTMENTS; adjusted += 1) {
    // Twice the period of a client means half as many requests. Some clients have no period, so one step is not enough.
    factor *= rate / (capacity / 2)
    load.setPace(factor)
    await sleep(SETTLE_MS)
    rate = await responsesPerSecond(load)
  }
  return { capacity, soak: rate }
}

async function responsesPerSecond({ client }: PacedLoad): Promise<number> {
  const before = client.responses()
  const startedAt = performance.now()
  await sleep(MEASURED_MS)
  return (client.responses() - before) / ((performance.now() - startedAt) / 1000)
}
