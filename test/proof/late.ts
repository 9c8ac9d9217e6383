// Responses that are correct but late: the host is busy, so a timeout of the service expired and it returned 503. Proofs
// that are not about time retry these requests, and print how many they were. A 503 that came before any timeout could
// expire is not late: it is the effect of an injected fault, or of a defect.
import { isBusy, retryWhileBusy } from '../support/load.ts'

/** The shortest timeout, which is lock_timeout in deploy/roles.sql, less the inaccuracy of timers. */
const SHORTEST_TIMEOUT_MS = 900

/** A case fails only if it is late this often, so that a defect that makes responses late is found. */
export const ATTEMPTS_MAX = 20

/** The row of the figures. */
const LATE = 'late responses, retried'

let lateResponses = 0

export function countLate(): void {
  lateResponses += 1
}

export function countedLate(): Record<string, number> {
  return { [LATE]: lateResponses }
}

/** Whether a timeout of the service may have expired since the start. */
export function mayBeLate(startedAt: number): boolean {
  return performance.now() - startedAt >= SHORTEST_TIMEOUT_MS
}

/** Retries a request while its response is late. */
export function retryWhileLate<Response extends { status: number; body: unknown }>(
  send: () => Promise<Response>,
): Promise<Response> {
  let startedAt = 0
  const sendTimed = () => {
    startedAt = performance.now()
    return send()
  }
  return retryWhileBusy(sendTimed, (response) => {
    const isLate = isBusy(response) && mayBeLate(startedAt)
    if (isLate) countLate()
    return isLate
  })
}

/** Repeats work without an injected fault while it fails because a response is late. */
export async function workInTime<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now()
    try {
      return await work()
    } catch (error) {
      if (!mayBeLate(startedAt) || attempt === ATTEMPTS_MAX) throw error
      countLate()
    }
  }
}

/** Whether the code of a 503 says that the change may have been made. */
export function isUnknown({ status, body }: { status: number; body: unknown }): boolean {
  return status === 503 && (body as { code?: unknown } | undefined)?.code === 'outcome_unknown'
}
