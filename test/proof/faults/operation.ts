// An operation of the service to inject faults into, and how to see its effect in the database.
import { AppError } from '../../../src/contract/errors.ts'
import type { TestResponse } from '../../support/client.ts'
import type { FaultFixture } from './fixture.ts'
import type { Outcome } from './tally.ts'

export interface Trial {
  /** Runs the operation through the faulty connection. */
  run: () => Promise<Outcome>
  /** How many times the change is in the database. Only 0 and 1 are correct. */
  effects?: () => Promise<number>
}

export interface Operation {
  name: string
  /**
   * The statement that commits. The outcome is unknown if its response is lost. Every other statement can be retried.
   * Undefined if the operation changes nothing, or is idempotent as a whole.
   */
  commits?: string
  /** Whether a retry never has a second effect, so that a client can retry without checking the first attempt. */
  isIdempotent?: boolean
  /** Whether the service itself does not retry an unknown outcome. */
  forgetsUnknown?: boolean
  /** Whether the service itself attempts it again after an unknown outcome: the second attempt has no second effect. */
  retriesUnknown?: boolean
  /** Prepares what the operation needs, bypassing the proxy. */
  prepare: (fixture: FaultFixture) => Promise<Trial>
}

/** The category of created pets, the category that updates change to, and the category of the stock. */
export const CATEGORY = 1
export const OTHER_CATEGORY = 2
export const STOCK_CATEGORY = 3

/** The data for operations that read. */
export interface Stock {
  petId: number
  orderId: number
}

/** Enough for the handler (12 seconds) and the look-up of the key before it, even on a busy host. */
const TIMEOUT_MS = 120_000

/** Throws if there is no response in time. */
export async function inTime<Result>(response: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no response in ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
  try {
    return await Promise.race([response, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** `done` for the expected status. Otherwise only errors of an unavailable database and `rejection` are correct. */
export function outcomeOf(
  response: TestResponse,
  expected: number | readonly number[],
  rejection?: string,
): Outcome {
  if ([expected].flat().includes(response.status)) return 'done'
  const { code } = response.body as { code: string }
  if (response.status === 503 && ['unavailable', 'overloaded', 'outcome_unknown'].includes(code)) {
    return code as Outcome
  }
  if (code === rejection) return 'rejected'
  throw new Error(`unexpected response ${response.status} ${response.text}`)
}

/** Like `outcomeOf`, for work outside a request. */
export async function outcomeOfWork(work: Promise<unknown>): Promise<Outcome> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof AppError && error.status === 503) return error.code as Outcome
    throw error
  }
}
