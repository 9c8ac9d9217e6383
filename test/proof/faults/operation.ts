// An operation of the service to inject faults into, and how to see its effect in the database.
import { AppError } from '../../../src/errors.ts'
import type { TestResponse } from '../../support/client.ts'
import type { FaultFixture } from './fixture.ts'
import type { Outcome } from './tally.ts'

export interface Trial {
  /** Runs the operation through the faulty connection. */
  run: () => Promise<Outcome>
  /** How often the change is in the database; only 0 and 1 are correct. */
  effects?: () => Promise<number>
}

export interface Operation {
  name: string
  /**
   * The statement that commits. If it is lost, the outcome is unknown; any other can be retried. Undefined if the
   * operation changes nothing, or if all of it is idempotent.
   */
  commits?: string
  /** Whether a retry never has a second effect, so that a client need not check first. */
  isIdempotent?: boolean
  /** Whether the service itself does not retry an unknown outcome. */
  forgetsUnknown?: boolean
  /** Prepares what the operation needs, bypassing the proxy. */
  prepare: (fixture: FaultFixture) => Promise<Trial>
}

/** The category of the pets that operations create, another one to change to, and that of the stock. */
export const CATEGORY = 1
export const OTHER_CATEGORY = 2
export const STOCK_CATEGORY = 3

/** The data for operations that read. */
export interface Stock {
  petId: number
  orderId: number
}

/** 12 seconds for the handler, the lookup of the key before it, and room for a busy machine. */
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

/** `done` is the response without a fault. Only errors of an unavailable database and `rejection` may replace it. */
export function outcomeOf(response: TestResponse, expected: number, rejection?: string): Outcome {
  if (response.status === expected) return 'done'
  const { code } = response.body as { code: string }
  if (response.status === 503 && ['unavailable', 'overloaded', 'outcome_unknown'].includes(code)) {
    return code as Outcome
  }
  if (code === rejection) return 'rejected'
  throw new Error(`unexpected response ${response.status} ${response.text}`)
}

/** The same for work outside of a request. */
export async function outcomeOfWork(work: Promise<unknown>): Promise<Outcome> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof AppError && error.status === 503) return error.code as Outcome
    throw error
  }
}
