// The seed and the volume of test/proof. The same seed reproduces a failure.
import { IS_FULL } from '../support/volume.ts'

const { TEST_SEED, PROOF_SCALE, PROOF_CASE } = process.env

/** Set by vitest-options.ts, except for the planted defects, which use no random values. */
export const SEED = Number(TEST_SEED ?? 0)

/**
 * Multiplies the number of inputs and faults. The default detects every planted defect of test/mutants in a few
 * minutes. TEST_VOLUME=full, for use at night, does four times as much; use an even larger scale for a long run.
 */
export const SCALE = Number(PROOF_SCALE ?? (IS_FULL ? 4 : 1))

/** Tries only this case, which a failure has printed. */
export const CASE = PROOF_CASE

/** The command that reproduces a failure of this file. */
export function replayWith(file: string, added: Record<string, string> = {}): string {
  const scale = PROOF_SCALE === undefined ? '' : `PROOF_SCALE=${PROOF_SCALE} `
  const volume = PROOF_SCALE === undefined && IS_FULL ? 'TEST_VOLUME=full ' : ''
  const others = Object.entries(added).map(([name, value]) => `${name}='${value.replaceAll("'", `'\\''`)}' `)
  return `TEST_SEED=${SEED} ${scale}${volume}${others.join('')}npm run test:proof -- ${file}`
}
