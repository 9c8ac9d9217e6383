// How slow this host is now: limits that are promises to users hold on a host of their own, and are judged here after
// what other programs take.

const SAMPLE_CPU_MS = 50

/** How many times longer than its CPU time a piece of work takes: 1 on a quiet host, n where n programs share a core. */
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
