// Keeps problems for a few seconds after their end, so that an operator can read a problem that lasted for one second.
import type { Problem } from './readings.ts'

const KEPT_SECONDS = 15

export interface RecentProblem {
  problem: Problem
  endedSeconds: number
}

/** Returns a function that gets the current problems, and returns those that have ended, faults first. */
export function openRecentProblems(): (current: readonly Problem[], nowSeconds: number) => RecentProblem[] {
  const seen = new Map<string, { problem: Problem; atSeconds: number }>()
  return (current, nowSeconds) => {
    for (const problem of current) seen.set(problem.title, { problem, atSeconds: nowSeconds })
    const titles = new Set(current.map(({ title }) => title))
    const ended = [...seen].flatMap(([title, { problem, atSeconds }]) => {
      const endedSeconds = nowSeconds - atSeconds
      if (endedSeconds > KEPT_SECONDS) seen.delete(title)
      return titles.has(title) || endedSeconds > KEPT_SECONDS ? [] : [{ problem, endedSeconds }]
    })
    return ended.sort(
      (a, b) => a.problem.state.localeCompare(b.problem.state) || a.endedSeconds - b.endedSeconds,
    )
  }
}
