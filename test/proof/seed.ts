// The seed of everything random in the proof, so that a failure can be reproduced.
import { randomInt } from 'node:crypto'

const { PROOF_SEED, PROOF_SCALE } = process.env

export const SEED = PROOF_SEED === undefined ? randomInt(2 ** 31) : Number(PROOF_SEED)

/** Multiplies the usual volume: 1 by default, more for a long run. */
export const SCALE = Number(PROOF_SCALE ?? 1)

/** The command that reproduces a failure of this file. */
export function replayWith(file: string): string {
  return `PROOF_SEED=${SEED} npm run test:proof -- ${file}`
}
