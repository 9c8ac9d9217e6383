// `npm run drill -- alerts`: causes faults in stores of their own, several at a time, and checks the alerts of each.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { embeddedBinaries } from '../../src/data/demo/cluster.ts'
import type { AlertsOptions } from './alerts-options.ts'
import { type AlertsReport, isClean, toMarkdown } from './alerts-report.ts'
import { closeEnvironments } from './environment.ts'
import { type FaultRow, runFault } from './fault-run.ts'
import { secondsUntilDue } from './planted-fault.ts'
import { faultOf, type PlantedFaultName } from './planted-faults.ts'
import { prepareTemplate } from './template.ts'

const EXIT_INTERRUPTED = 1
const WARM_UP_SECONDS = 15
const HEALTHY_SECONDS = 45

/** Returns whether all alerts were as expected. */
export async function runAlertsDrill(options: AlertsOptions, say: (text: string) => void): Promise<boolean> {
  const startedAt = new Date()
  const stamp = startedAt.toISOString().replaceAll(/[:.]/g, '-')
  const folder = join(options.folder, 'runs', `${stamp}-alerts`)
  mkdirSync(folder, { recursive: true })
  say(`Files of this run: ${folder}`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void closeEnvironments().finally(() => process.exit(EXIT_INTERRUPTED)))
  const templateFolder = join(folder, 'template')
  const template = await prepareTemplate(embeddedBinaries(), templateFolder)
  const rows = await inParallel(longestFirst(options.faults), options.parallel, async (name) => {
    const row = await runFault({
      name,
      fault: faultOf(name),
      template,
      folder: join(folder, name),
      warmUpSeconds: WARM_UP_SECONDS,
      healthySeconds: HEALTHY_SECONDS,
      heals: true,
      say,
    }).catch((error: unknown) => failedRow(name, error))
    say(`${name}: ${row.problems.length === 0 ? 'as expected' : row.problems.join('; ')}`)
    return row
  })
  rmSync(templateFolder, { recursive: true, force: true })
  const report: AlertsReport = {
    startedAt: startedAt.toISOString(),
    seconds: (Date.now() - startedAt.getTime()) / 1_000,
    rows: options.faults.flatMap((name) => rows.filter((row) => row.fault === name)),
  }
  const data = `${JSON.stringify(report, null, 2)}\n`
  for (const path of [join(folder, 'report.json'), options.json])
    if (path !== undefined) writeFileSync(path, data)
  writeFileSync(join(folder, 'report.md'), toMarkdown(report))
  process.stdout.write(`\n${toMarkdown(report)}`)
  return isClean(report)
}

/** A run that failed before it could check the alerts. */
function failedRow(name: PlantedFaultName, error: unknown): FaultRow {
  const { description, expected } = faultOf(name)
  return {
    fault: name,
    description,
    expected,
    notified: [],
    firing: [],
    secondsAfterFault: null,
    secondsAfterDue: null,
    secondsUntilResolved: null,
    responses: 0,
    failedResponses: 0,
    problems: [inspect(error)],
  }
}

/** The longest runs start first, so that no long one is left alone at the end. */
function longestFirst(names: readonly PlantedFaultName[]): PlantedFaultName[] {
  const secondsOf = (name: PlantedFaultName) => {
    const fault = faultOf(name)
    return secondsUntilDue(fault) + (fault.watchSeconds ?? 0) + (fault.resolvedWithinSeconds ?? 0)
  }
  return names.toSorted((one, other) => secondsOf(other) - secondsOf(one))
}

/** Runs the work for each item, at most `max` at a time. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  max: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const left = [...items]
  const results: Result[] = []
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) results.push(await work(item))
  }
  await Promise.all(Array.from({ length: max }, worker))
  return results
}
