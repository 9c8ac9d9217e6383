// The chart of a soak: responses, latencies and resources over time, with the faults.
import { drawTimeChart, type Line, type MarkedFault, type Panel } from '../parts/charts.ts'
import type { SoakData } from './flatness.ts'
import type { Resource } from './resources.ts'

const INSTANCES = [0, 1]
/** Latencies during a failover are as long as the gap. The chart cuts them off, so that the others can be read. */
const LATENCY_MAX_MS = 500

export function drawSoakChart(soak: SoakData, faults: readonly MarkedFault[], seconds: number): string {
  const title = 'Soak at half capacity, with a fault in each red area'
  return drawTimeChart({ title, seconds, panels: toPanels(soak), faults })
}

function toPanels({ resources, latencies, hostCpu }: SoakData): Panel[] {
  const perInstance = (resource: Resource): Line[] =>
    INSTANCES.map((instance) => ({
      label: `instance ${instance + 1}`,
      points: resources
        .filter((sample) => sample.instance === instance)
        .map((sample) => [sample.second, sample[resource]]),
    }))
  const cut = (ms: number) => Math.min(LATENCY_MAX_MS, ms)
  return [
    {
      title: 'Responses per second',
      lines: [
        { label: 'all operations', points: latencies.map(({ second, perSecond }) => [second, perSecond]) },
      ],
    },
    {
      title: `Latency in ms, at most ${LATENCY_MAX_MS} shown`,
      lines: [
        { label: 'p50', points: latencies.map(({ second, p50Ms }) => [second, cut(p50Ms)]) },
        { label: 'p99', points: latencies.map(({ second, p99Ms }) => [second, cut(p99Ms)]) },
      ],
    },
    { title: 'Memory in MB', lines: perInstance('memoryMb') },
    { title: 'Open files', lines: perInstance('openFiles') },
    { title: 'Connections to PostgreSQL', lines: perInstance('connections') },
    {
      title: 'CPU of the host in percent',
      lines: [
        { label: 'used here', points: hostCpu.map(({ second, used }) => [second, used]) },
        { label: 'taken by others', points: hostCpu.map(({ second, taken }) => [second, taken]) },
      ],
    },
  ]
}
