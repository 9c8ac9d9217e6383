// Records the results of each part of test/proof. The table in docs/evidence/reliability.md contains these results.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SEED } from './seed.ts'

export const FIGURES_FOLDER = resolve(import.meta.dirname, '../../.proof')

export interface Figures {
  part: string
  seed: number
  date: string
  /** What was counted and how many, in the order of the table. */
  counts: Record<string, number>
}

export function recordFigures(part: string, counts: Record<string, number>): void {
  const figures: Figures = { part, seed: SEED, date: new Date().toISOString().slice(0, 10), counts }
  mkdirSync(FIGURES_FOLDER, { recursive: true })
  writeFileSync(join(FIGURES_FOLDER, `${part}.json`), `${JSON.stringify(figures, null, 2)}\n`)
}
