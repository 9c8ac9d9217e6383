// `node test/proof/table.ts [--write]`: prints the results of the last `npm run test:proof` and `npm run test:mutants` as
// a table; with --write, writes it into docs/evidence/reliability.md.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Figures, FIGURES_FOLDER } from './figures.ts'

const DOCUMENT = resolve(import.meta.dirname, '../../docs/evidence/reliability.md')
const PARTS = ['inputs', 'model', 'histories', 'faults', 'mutants']
const [BEGIN, END] = ['<!-- figures -->', '<!-- end of figures -->']

function readFigures(): Figures[] {
  if (!existsSync(FIGURES_FOLDER)) return []
  return readdirSync(FIGURES_FOLDER)
    .map((file) => JSON.parse(readFileSync(join(FIGURES_FOLDER, file), 'utf8')) as Figures)
    .toSorted((a, b) => PARTS.indexOf(a.part) - PARTS.indexOf(b.part))
}

function toTable(figures: Figures[]): string {
  const rows = figures.flatMap(({ part, seed, date, counts }) =>
    Object.entries(counts).map(
      ([what, count]) => `| ${part} | ${what} | ${count.toLocaleString('en')} | ${seed} | ${date} |`,
    ),
  )
  return ['| Part | What | How many | Seed | Date |', '|---|---|---|---|---|', ...rows].join('\n')
}

const figures = readFigures()
const missing = PARTS.filter((part) => !figures.some((found) => found.part === part))
if (missing.length > 0) {
  console.error(
    `No figures for ${missing.join(', ')}: run \`npm run test:proof\` and \`npm run test:mutants\` first.`,
  )
  process.exitCode = 1
} else if (process.argv.includes('--write')) {
  const [before = '', rest = ''] = readFileSync(DOCUMENT, 'utf8').split(BEGIN)
  const [, after = ''] = rest.split(END)
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n${toTable(figures)}\n${END}${after}`)
} else {
  console.log(toTable(figures))
}
