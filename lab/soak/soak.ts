// The measurements of a soak: latencies and resources from the start of the load to its end, at half capacity.
import type { Lab } from '../cluster/cluster.ts'
import type { Load, Observe } from '../load/load.ts'
import type { SoakData } from './flatness.ts'
import { type Rates, setHalfCapacity } from './half-capacity.ts'
import { startHostCpuSampler } from './host-cpu.ts'
import { openLatencies } from './latencies.ts'
import { startResourceSampler } from './resources.ts'

export interface Soak {
  /** For the load. */
  observe: Observe
  setLoad: (load: Load, say: (text: string) => void) => Promise<void>
  stop: () => Promise<SoakData>
}

export function openSoak({ adminUrls }: Pick<Lab, 'adminUrls'>): Soak {
  const latencies = openLatencies()
  const sampler = startResourceSampler(adminUrls)
  const hostCpu = startHostCpuSampler()
  let rates: Rates = { capacity: 0, soak: 0 }
  return {
    observe: () => {
      const sentAt = performance.now()
      return ({ status }) => {
        if (status !== undefined) latencies.add(performance.now() - sentAt)
      }
    },
    setLoad: async (load, say) => {
      say('Measuring the capacity, then setting the load to half of it.')
      rates = await setHalfCapacity(load)
      say(`Capacity ${Math.round(rates.capacity)} responses/s; load ${Math.round(rates.soak)} responses/s.`)
    },
    stop: async () => {
      await Promise.all([sampler.stop(), hostCpu.stop()])
      return {
        rates,
        resources: sampler.samples(),
        latencies: latencies.summary(),
        hostCpu: hostCpu.samples(),
      }
    },
  }
}
