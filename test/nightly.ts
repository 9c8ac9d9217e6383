// `npm run nightly`: the tests that take too long for every merge, with full volumes, one part after the other. Writes one
// log for each part and a report.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const ROOT = resolve(import.meta.dirname, '..')
const DEBIAN_POSTGRES = '/usr/lib/postgresql/15/bin'
const PROOF_ROUNDS = 20
/** How much of the log of a failed part is shown. */
const TAIL_LINES = 60

interface Part {
  text: string
  command: string[]
  environment?: Record<string, string>
  /** Each round has another seed. The default is one round. */
  rounds?: number
}

const PARTS: Record<string, Part> = {
  postgres15: {
    text: 'all fast tests and those with processes on PostgreSQL 15',
    command: ['exec', '--', 'vitest', 'run'],
    environment: { TEST_POSTGRES: DEBIAN_POSTGRES },
  },
  slow: {
    text: 'slow tests with full volumes and latency limits',
    command: ['run', 'test:slow'],
    environment: { TEST_VOLUME: 'full', TEST_FIGURES: 'on' },
  },
  proofs: {
    text: `all proofs, ${PROOF_ROUNDS} times`,
    command: ['run', 'test:proof'],
    rounds: PROOF_ROUNDS,
  },
  mutants: { text: 'all planted defects', command: ['run', 'test:mutants', '--', '--all'] },
  operators: {
    text: 'each operator of the delivery replaced',
    command: ['run', 'test:mutants', '--', '--operators'],
  },
  bench: {
    text: 'quick benchmark, compared with the recorded one',
    command: ['run', 'bench', '--', '--quick'],
  },
  drill: { text: 'all faults of the cluster', command: ['run', 'drill'] },
  soak: { text: 'half capacity with a fault every three minutes', command: ['run', 'drill', '--', '--soak'] },
  restore: { text: 'backups and restores', command: ['run', 'drill', '--', 'restore'] },
  production: {
    text: 'docs/production.md on a fresh Debian 12, its upgrade, then a fresh Debian 13',
    command: ['run', 'drill', '--', 'production', '--upgrade'],
  },
  losses: {
    text: 'one server whose data is deleted under load, and whose backups are damaged',
    command: ['run', 'drill', '--', 'production', '--restores', '--backup-faults'],
  },
  alerts: { text: 'each alert for its fault', command: ['run', 'drill', '--', 'alerts', '--parallel', '2'] },
}

const HELP = `npm run nightly -- [options] [part ...]

Runs the given parts, or all of them, one after the other. Run .ci/install first: it installs what the tests need.

${Object.entries(PARTS)
  .map(([name, { text }]) => `  ${name.padEnd(14)}${text}`)
  .join('\n')}

  --folder FOLDER  where to write the logs and report.md (default .nightly)
  --json           print the results as JSON on standard output

Exits with 1 if a part failed. Examples:

  npm run nightly -- proofs mutants
  npm run nightly -- --folder /var/tmp/report drill`

interface Result {
  part: string
  round: number
  /** The seed of its random values: `TEST_SEED` repeats them. A failed seed becomes a fixed case of its test. */
  seed: string
  isPassed: boolean
  minutes: number
  /** The lines that give the counts, such as "3918 passed". */
  summary: string
  log: string
}

async function runRound(name: string, round: number, folder: string): Promise<Result> {
  const { command, environment = {} } = PARTS[name] as Part
  const log = join(folder, `${name}${round === 1 ? '' : `-${round}`}.log`)
  const startMs = performance.now()
  const fd = openSync(log, 'w')
  const seed = process.env['TEST_SEED'] ?? String(randomInt(2 ** 31))
  const env = { ...process.env, ...environment, TEST_SEED: seed, NO_COLOR: '1' }
  const child = spawn('npm', command, { cwd: ROOT, env, stdio: ['ignore', fd, fd] })
  const [code] = (await once(child, 'close')) as [number | null]
  closeSync(fd)
  const lines = readFileSync(log, 'utf8').split('\n')
  const isPassed = code === 0
  if (!isPassed) console.error(lines.slice(-TAIL_LINES).join('\n'))
  const minutes = Math.round((performance.now() - startMs) / 6_000) / 10
  return { part: name, round, seed, isPassed, minutes, summary: summarise(lines), log }
}

/** The last line with a verdict: of vitest, the mutants, the drill or the benchmark. */
function summarise(lines: readonly string[]): string {
  const verdicts = lines.filter((line) =>
    /^\s*Tests\s|planted defects were|violation|below the baseline/.test(line),
  )
  return verdicts.at(-1)?.trim() ?? ''
}

function toReport(results: readonly Result[]): string {
  const rows = results.map(
    ({ part, round, seed, isPassed, minutes, summary }) =>
      `| ${part} | ${round} | ${seed} | ${isPassed ? 'passed' : '**failed**'} | ${minutes} | ${summary.replaceAll('|', ',')} |`,
  )
  return [
    '| Part | Round | Seed | Result | Minutes | Summary |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      folder: { type: 'string', default: join(ROOT, '.nightly') },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const unknown = positionals.filter((name) => !(name in PARTS))
  if (unknown.length > 0) {
    console.error(`Unknown part: ${unknown.join(', ')}. The parts are: ${Object.keys(PARTS).join(', ')}.`)
    process.exitCode = 2
    return
  }
  const folder = resolve(values.folder)
  mkdirSync(folder, { recursive: true })
  const results: Result[] = []
  for (const name of positionals.length > 0 ? positionals : Object.keys(PARTS)) {
    const { text, rounds = 1 } = PARTS[name] as Part
    for (let round = 1; round <= rounds; round += 1) {
      console.error(`${name}: ${text}${rounds > 1 ? `, round ${round} of ${rounds}` : ''}`)
      const result = await runRound(name, round, folder)
      console.error(
        `${name}: ${result.isPassed ? 'passed' : 'FAILED'} in ${result.minutes} min with seed ${result.seed}, ${result.log}`,
      )
      results.push(result)
      writeFileSync(join(folder, 'report.md'), toReport(results))
    }
  }
  console.log(values.json ? JSON.stringify(results, null, 2) : toReport(results))
  if (results.some(({ isPassed }) => !isPassed)) process.exitCode = 1
}

await main()
