// `npm run drill -- restore`: backups of a cluster under load, restores to moments, damage, and the loss of all nodes.
// Knows the order of the steps, not how they work.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../cluster/cluster.ts'
import type { Options } from '../failover/options.ts'
import { startRun } from '../failover/run.ts'
import { emptyHistory, openHistoryFile } from '../load/history.ts'
import { startLoad } from '../load/load.ts'
import { openActivity } from '../parts/activity.ts'
import type { Progress } from '../parts/progress.ts'
import type { Violations } from '../parts/violations.ts'
import { type RestoreContext, readMoment, waitUntilArchived } from './context.ts'
import { checkDamage, verifyRepository } from './damage.ts'
import { compareExactly } from './exact.ts'
import { Journal } from './journal.ts'
import { type RestoreReport, toMarkdown } from './report.ts'
import { Repository } from './repository.ts'
import { ROUND_EVENTS, type RoundEvent, type RoundRow, runRound } from './rounds.ts'
import { loseEverything } from './total-loss.ts'

const WARM_UP_MS = 10_000
const HEALTHY_TIMEOUT_MS = 180_000
const IMPORTED_ROWS = 500

/** Returns whether no violation was found. */
export async function runRestoreDrill(options: Options, progress: Progress): Promise<boolean> {
  const { seed } = options
  const { say } = progress
  say(`Seed ${seed}. Rounds: ${options.rounds}.`)
  const { startedAt, folder, violations, lab } = await startRun(`restore-seed-${seed}`, options, say)
  try {
    const begunAt = performance.now()
    const measured = await measure(lab, violations, { ...options, runFolder: folder, progress })
    const report: RestoreReport = {
      startedAt: startedAt.toISOString(),
      seed,
      seconds: (performance.now() - begunAt) / 1000,
      ...measured,
      violations: violations.summary(),
    }
    progress.end()
    const data = `${JSON.stringify(report, null, 2)}\n`
    for (const path of [join(folder, 'report.json'), options.json]) if (path) writeFileSync(path, data)
    writeFileSync(join(folder, 'report.md'), toMarkdown(report))
    process.stdout.write(`\n${toMarkdown(report)}`)
    return violations.count() === 0
  } finally {
    await lab.stop()
  }
}

type MeasureOptions = Options & { runFolder: string; progress: Progress }
type Measured = Pick<
  RestoreReport,
  'full' | 'rounds' | 'exact' | 'damage' | 'totalLoss' | 'after' | 'acknowledged'
>

async function measure(lab: Lab, violations: Violations, options: MeasureOptions): Promise<Measured> {
  const { progress, runFolder } = options
  const { say } = progress
  await lab.waitUntilHealthy(HEALTHY_TIMEOUT_MS)
  const repository = new Repository(lab)
  say('installing pgBackRest on the nodes and on the repository host')
  await repository.create()
  await repository.startArchiving()
  const { journal, load, historyFile } = startJournaledLoad(lab, violations, options)
  const context: RestoreContext = {
    lab,
    repository,
    load,
    journal,
    violations,
    say,
    service: options.service,
  }
  const current = { fault: 0, name: 'full backup' }
  const faults = options.rounds + 3
  progress.show(() => ({
    ...current,
    what: 'step',
    faults,
    acknowledged: load.acknowledged(),
    responses: load.client.responses(),
    violations: violations.count(),
  }))
  await sleep(WARM_UP_MS)
  const full = await repository.backUp('full')
  say(`full backup (attempt ${full.attempts}) in ${full.seconds.toFixed(1)} s`)

  const rounds: RoundRow[] = []
  const events = Object.keys(ROUND_EVENTS) as RoundEvent[]
  for (let number = 1; number <= options.rounds; number += 1) {
    const event = events[(number - 1) % events.length] ?? 'none'
    Object.assign(current, { fault: number, name: event })
    const row = await runRound(context, number, event)
    rounds.push(row)
    say(roundText(row, number))
  }
  Object.assign(current, { fault: options.rounds + 1, name: 'exact comparison' })
  const exact = await compareExactly(context)
  Object.assign(current, { fault: options.rounds + 2, name: 'damage' })
  const damage = await damageRepository(context)
  Object.assign(current, { fault: options.rounds + 3, name: 'loss of all nodes' })
  const acknowledged = load.acknowledged()
  const totalLoss = await loseEverything(context)
  await repository.applyArchiving()
  const after = await repository.backUp('incr')
  say(`incremental backup of the restored cluster in ${after.seconds.toFixed(1)} s`)
  load.client.close()
  await historyFile.close()
  say(`The history of the clients is in ${runFolder}.`)
  return { full, rounds, exact, damage, totalLoss, after, acknowledged }
}

/** Damages copies of the repository. The repository itself must be intact, before and after. */
async function damageRepository(context: RestoreContext) {
  const { lab, violations, say } = context
  const moment = await readMoment(lab)
  await waitUntilArchived(lab)
  const fault = await verifyRepository(context)
  if (fault !== undefined) {
    violations.add({ kind: 'restoredUnusable', subject: 'repository', text: `pgbackrest verify: ${fault}` })
  }
  say('damaging copies of the repository')
  return checkDamage(context, moment.text)
}

function startJournaledLoad(lab: Lab, violations: Violations, { seed, runFolder, progress }: MeasureOptions) {
  const journal = new Journal()
  const history = emptyHistory(`drill-${Date.now().toString(36)}-`)
  const historyFile = openHistoryFile(join(runFolder, 'history.jsonl'), (error) =>
    progress.say(`The history file is incomplete: ${error}`),
  )
  const runCommand: Lab['runCommand'] = async (args, input) => {
    const isImport = args[0] === 'import'
    const name = args[args.indexOf('--id') + 1] ?? ''
    const end = isImport ? journal.startImport(name, IMPORTED_ROWS) : undefined
    const result = await lab.runCommand(args, input)
    end?.(result.exitCode === 0)
    return result
  }
  const load = startLoad({
    lab: { ...lab, runCommand },
    seed,
    history,
    historyFile,
    activity: openActivity(),
    violations,
    folder: runFolder,
    observe: journal.observe,
  })
  return { journal, load, historyFile }
}

function roundText(row: RoundRow, number: number): string {
  const [before, after] = row.timelines
  return `round ${number}, ${row.event}: timeline ${before} → ${after}; ${row.required} changes required, ${row.excluded} excluded, ${row.possible} in flight; ${row.rows} rows, ${row.identical ? 'identical twice' : 'DIFFERENT'}; restore ${row.restoreSeconds.toFixed(1)} s, replay ${row.replaySeconds.toFixed(1)} s, verify ${row.verifySeconds.toFixed(1)} s`
}
