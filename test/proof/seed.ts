// The seed of all random values in test/proof. The same seed reproduces a failure.
import { randomInt } from 'node:crypto'

const { PROOF_SEED, PROOF_SCALE } = process.env

export const SEED = PROOF_SEED === undefined ? randomInt(2 ** 31) : Number(PROOF_SEED)

/** Multiplies the number of inputs and faults. The default is 1; use more for a long run. */
export const SCALE = Number(PROOF_SCALE ?? 1)

/** The command that reproduces a failure of this file. */
export function replayWith(file: string): string {
  return `PROOF_SEED=${SEED} npm run test:proof -- ${file}`
}
