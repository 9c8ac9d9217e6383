// References are unique. A pet that already has one is found before the write; one that another transaction is just writing
// makes the write fail.
import { AppError } from '../../contract/errors.ts'
import { QueryFailure } from '../../db/connection/failures.ts'
import { UNIQUE_VIOLATION } from '../../db/connection/sqlstates.ts'

/** Each attempt waits for the transaction with the same reference, and then finds what it has written. */
const ATTEMPTS_MAX = 5

function isTaken(error: unknown): boolean {
  if (!(error instanceof QueryFailure) || error.state !== UNIQUE_VIOLATION) return false
  return (error.cause as { constraint?: string }).constraint === 'pet_profiles_by_reference'
}

/** Attempts the work, a transaction or a statement of its own, again if another transaction has written the same reference. */
export async function withReferences<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isTaken(error)) throw error
      if (attempt === ATTEMPTS_MAX) throw new AppError('reference_in_use')
    }
  }
}

/** For a write of one pet: the first attempt says enough. */
export async function rejectTakenReference<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw isTaken(error) ? new AppError('reference_in_use') : error
  }
}
