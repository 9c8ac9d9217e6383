// Samples how much CPU this host used, and how much other virtual machines took from it: the latency of a soak depends on
// both.
import { readFile } from 'node:fs/promises'
import { repeat } from '../parts/repeat.ts'

const SAMPLED_EVERY_MS = 10_000

export interface HostCpuSample {
  /** Seconds since the load began. */
  second: number
  /** Percent of all cores, used by processes of this host. */
  used: number
  /** Percent of all cores, taken by others. */
  taken: number
}

export interface HostCpuSampler {
  samples: () => HostCpuSample[]
  stop: () => Promise<void>
}

export function startHostCpuSampler(): HostCpuSampler {
  const startedAt = performance.now()
  const samples: HostCpuSample[] = []
  let before: number[] | undefined
  const stop = repeat(SAMPLED_EVERY_MS, async () => {
    const after = parseTicks(await readFile('/proc/stat', 'utf8'))
    if (before) samples.push({ second: (performance.now() - startedAt) / 1000, ...shares(before, after) })
    before = after
  })
  return { samples: () => [...samples], stop }
}

/** The counters of all cores: user, nice, system, idle, iowait, irq, softirq, steal. */
export function parseTicks(stat: string): number[] {
  const line = /^cpu +(.+)$/m.exec(stat)?.[1]
  if (line === undefined) throw new Error('/proc/stat has no line of all cores.')
  return line.split(' ').slice(0, 8).map(Number)
}

export function shares(before: readonly number[], after: readonly number[]): { used: number; taken: number } {
  const ticks = after.map((value, index) => value - (before[index] ?? 0))
  const total = ticks.reduce((sum, value) => sum + value, 0)
  const [, , , idle = 0, iowait = 0, , , steal = 0] = ticks
  if (total === 0) return { used: 0, taken: 0 }
  return { used: ((total - idle - iowait - steal) / total) * 100, taken: (steal / total) * 100 }
}
