// Everything random in the proof comes from one number, so that a failure can be seen again.
import { randomInt } from 'node:crypto'

const { PROOF_SEED, PROOF_SCALE } = process.env

export const SEED = PROOF_SEED === undefined ? randomInt(2 ** 31) : Number(PROOF_SEED)

/** How many times the usual volume: 1 in every run, more for a night. */
export const SCALE = Number(PROOF_SCALE ?? 1)

/** What to type to see a failure of this file again. */
export function replayWith(file: string): string {
  return `PROOF_SEED=${SEED} npm run test:proof -- ${file}`
}
