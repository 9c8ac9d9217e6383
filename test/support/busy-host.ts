// Measures how busy this host is. Latency limits apply to a dedicated host, so tests multiply them by this factor.

const SAMPLE_CPU_MS = 50

/** Elapsed time divided by CPU time: 1 on a quiet host, n if n programs share a core. */
export function slowness(): number {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  const cpuMs = () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
  while (cpuMs() < SAMPLE_CPU_MS);
  return Math.max(1, (performance.now() - startedAt) / cpuMs())
}
