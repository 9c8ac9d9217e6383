// What a fault is tried on: an operation of the service, and how to see from outside what became of it.
import { AppError } from '../../../src/errors.ts'
import type { TestResponse } from '../../support/client.ts'
import type { Lane } from './lane.ts'
import type { Outcome } from './tally.ts'

export interface Trial {
  /** Does it by way of the faulty connection. */
  run: () => Promise<Outcome>
  /** How often it is in the database; 0 and 1 are all that may ever come. */
  effects?: () => Promise<number>
}

export interface Operation {
  name: string
  /**
   * The statement that commits. Lost, it leaves the outcome unknown; any other may be repeated. Undefined where
   * nothing is changed, or where doing it twice is the same as once.
   */
  commits?: string
  /** Whether repeating it never makes a second one, so that nobody has to look first. */
  isIdempotent?: boolean
  /** Whether the service itself leaves it at that when the outcome is unknown. */
  forgetsUnknown?: boolean
  /** Makes what it needs, past the proxy. */
  prepare: (lane: Lane) => Promise<Trial>
}

/** The category of the animals that operations make, another one to change to, and that of the stock. */
export const CATEGORY = 1
export const OTHER_CATEGORY = 2
export const STOCK_CATEGORY = 3

/** What there is to read. */
export interface Stock {
  petId: number
  orderId: number
}

/** 12 seconds for the handler, before it the look-up of the key, and room for a machine with other work. */
const ANSWER_WITHIN_MS = 120_000

/** Nobody waits for ever: throws where there is no answer in time. */
export async function inTime<Result>(response: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer in ${ANSWER_WITHIN_MS} ms`)), ANSWER_WITHIN_MS)
  try {
    return await Promise.race([response, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Done is what the operation answers without a fault; of refusals only those of a database that is away will do. */
export function outcomeOf(response: TestResponse, expected: number, rejection?: string): Outcome {
  if (response.status === expected) return 'done'
  const { code } = response.body as { code: string }
  if (response.status === 503 && ['unavailable', 'overloaded', 'outcome_unknown'].includes(code)) {
    return code as Outcome
  }
  if (code === rejection) return 'rejected'
  throw new Error(`answered ${response.status} ${response.text}`)
}

/** The same for work that no request asked for. */
export async function outcomeOfWork(work: Promise<unknown>): Promise<Outcome> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof AppError && error.status === 503) return error.code as Outcome
    throw error
  }
}
