// `npm run drill`: load on two service processes and a PostgreSQL cluster, one fault after the other, then the verdict.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { runAlertsDrill } from './alerts/alerts-drill.ts'
import { alertsHelpText, readAlertsOptions } from './alerts/alerts-options.ts'
import type { Lab } from './cluster/cluster.ts'
import { ensureRoot } from './cluster/debian-root.ts'
import { enterNamespaces } from './cluster/namespaces.ts'
import { drawDrillChart } from './failover/drill-chart.ts'
import { helpText, type Options, readOptions, UsageError } from './failover/options.ts'
import { makePlan } from './failover/plan.ts'
import { checkGoals, type FaultRow, type Report, summarizeKinds, toMarkdown } from './failover/report.ts'
import { runRounds } from './failover/rounds.ts'
import { startRun } from './failover/run.ts'
import { readTables } from './failover/tables.ts'
import { openFeedCheck } from './load/feed-check.ts'
import { emptyHistory, openHistoryFile } from './load/history.ts'
import { startLoad } from './load/load.ts'
import { startSampler } from './load/sampler.ts'
import { checkEvents, findViolations } from './load/verdict.ts'
import { runProductionDrill } from './one-server/production-drill.ts'
import { productionHelpText, readProductionOptions } from './one-server/production-options.ts'
import { openActivity } from './parts/activity.ts'
import { openProgress, type Progress } from './parts/progress.ts'
import type { Violations } from './parts/violations.ts'
import { runRestoreDrill } from './restore/restore-drill.ts'
import { compareEnds, type SoakData } from './soak/flatness.ts'
import { drawSoakChart } from './soak/soak-chart.ts'
import { openSoak } from './soak/soak.ts'

const EXIT_VIOLATION = 1
const EXIT_USAGE = 2
const HEALTHY_TIMEOUT_MS = 600_000

await main().catch((error: unknown) => {
  process.stderr.write(`\nThe drill failed: ${inspect(error)}\n`)
  process.exit(EXIT_VIOLATION)
})

async function main(): Promise<void> {
  if (process.argv[2] === 'alerts') return runAlerts(process.argv.slice(3))
  if (process.argv[2] === 'production') return runProduction(process.argv.slice(3))
  const options = readArguments(() => readOptions(process.argv.slice(2)), helpText)
  if (options === undefined) return
  const progress = openProgress(process.stdout)
  // Needs the network, which the namespaces do not have.
  await ensureRoot(join(options.folder, 'root'), progress.say)
  enterNamespaces(process.argv)
  if (options.restore) process.exit((await runRestoreDrill(options, progress)) ? 0 : EXIT_VIOLATION)
  const report = await runDrill(options, progress)
  progress.end()
  const isClean = report.violations.every(({ count }) => count === 0)
  process.stdout.write(`\n${toMarkdown(report)}`)
  process.exit(isClean ? 0 : EXIT_VIOLATION)
}

/** Needs neither the Debian root nor namespaces. */
async function runAlerts(args: string[]): Promise<void> {
  const options = readArguments(() => readAlertsOptions(args), alertsHelpText)
  if (options === undefined) return
  const { say } = openProgress(process.stdout)
  process.exit((await runAlertsDrill(options, say)) ? 0 : EXIT_VIOLATION)
}

/** Has a Debian root and namespaces of its own. */
async function runProduction(args: string[]): Promise<void> {
  const options = readArguments(() => readProductionOptions(args), productionHelpText)
  if (options === undefined) return
  const { say } = openProgress(process.stdout)
  process.exit((await runProductionDrill(options, say)) ? 0 : EXIT_VIOLATION)
}

/** Returns undefined after it has printed the help text, or what is wrong. */
function readArguments<Read>(read: () => Read | 'help', toHelp: () => string): Read | undefined {
  try {
    const options = read()
    if (options !== 'help') return options
    process.stdout.write(`${toHelp()}\n`)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\nRun: npm run drill -- --help\n`)
    process.exitCode = EXIT_USAGE
  }
  return undefined
}

async function runDrill(options: Options, progress: Progress): Promise<Report> {
  const { seed, connection, replication } = options
  const { say } = progress
  const plan = makePlan(options)
  say(`Seed ${seed}. Faults (${plan.length}): ${plan.join(' ')}`)
  const { startedAt, folder: runFolder, violations, lab } = await startRun(`seed-${seed}`, options, say)
  try {
    const { soakData, ...measured } = await measure(lab, {
      ...options,
      plan,
      runFolder,
      progress,
      violations,
    })
    const kinds = summarizeKinds(measured.faults)
    const report: Report = {
      startedAt: startedAt.toISOString(),
      seed,
      plan,
      connection,
      replication,
      ...measured,
      kinds,
      goals: checkGoals(kinds),
      violations: violations.summary(),
      ...(soakData && {
        soak: { rates: soakData.rates, ends: compareEnds(soakData, measured.faults, measured.seconds) },
      }),
    }
    writeReport(report, runFolder, options, soakData)
    return report
  } finally {
    await lab.stop()
  }
}

interface MeasureOptions extends Options {
  plan: ReturnType<typeof makePlan>
  runFolder: string
  progress: Progress
  violations: Violations
}

type Measured = Pick<
  Report,
  'seconds' | 'totals' | 'acknowledged' | 'cpu' | 'feed' | 'faults' | 'perSecond'
> & {
  soakData: SoakData | undefined
}

/** Runs load and faults, then compares the responses that the clients received with the tables of the primary. */
async function measure(lab: Lab, options: MeasureOptions): Promise<Measured> {
  await lab.waitUntilHealthy(HEALTHY_TIMEOUT_MS)
  const cpuBefore = process.cpuUsage()
  const running = startMeasuring(lab, options)
  const { activity, load, feed } = running
  const faults = await runFaults(running, options)
  const seconds = (performance.now() - activity.startedAt) / 1000
  const perSecond = { writes: activity.perSecond('writes'), reads: activity.perSecond('reads') }
  const soakData = await stopLoad(running, options.progress.say)
  const { user, system } = process.cpuUsage(cpuBefore)
  const cpuSeconds = (user + system) / 1e6
  await judge(running, options.violations)
  return {
    seconds,
    totals: load.totals,
    acknowledged: load.acknowledged(),
    cpu: { seconds: cpuSeconds, share: cpuSeconds / seconds },
    feed: feed.summary(),
    faults,
    perSecond,
    soakData,
  }
}

type Running = ReturnType<typeof startMeasuring>

function startMeasuring(
  lab: Lab,
  { seed, plan, runFolder, progress, violations, soak: isSoak }: MeasureOptions,
) {
  // The prefix of the names of pets differs between runs, so that a database can be used again.
  const history = emptyHistory(`drill-${Date.now().toString(36)}-`)
  const historyFile = openHistoryFile(join(runFolder, 'history.jsonl'), (error) =>
    progress.say(`The history file is incomplete: ${error}`),
  )
  const activity = openActivity()
  const sampler = startSampler(lab)
  const soak = isSoak ? openSoak(lab) : undefined
  const load = startLoad({
    lab,
    seed,
    history,
    historyFile,
    activity,
    violations,
    folder: runFolder,
    ...(soak && { observe: soak.observe }),
  })
  const { gate, follower } = load
  const feed = openFeedCheck({ lab, gate, follower, violations })
  const current = { fault: 0, name: 'warm-up' }
  progress.show(() => ({
    ...current,
    faults: plan.length,
    acknowledged: load.acknowledged(),
    responses: load.client.responses(),
    violations: violations.count(),
  }))
  return { lab, history, historyFile, activity, sampler, soak, load, feed, current }
}

async function runFaults(running: Running, options: MeasureOptions): Promise<FaultRow[]> {
  const { lab, load, sampler, activity, feed, soak, current } = running
  const { plan, violations, progress } = options
  await soak?.setLoad(load, progress.say)
  return runRounds({
    lab,
    load,
    sampler,
    activity,
    feed,
    violations,
    plan,
    settleMs: options.settleSeconds * 1000,
    ...(options.soak && { periodMs: options.everySeconds * 1000 }),
    onStart: (name, fault) => Object.assign(current, { name, fault }),
    onRow: (row, number) => progress.say(rowText(row, number, plan.length)),
  })
}

async function stopLoad(
  { load, sampler, soak, current }: Running,
  say: Progress['say'],
): Promise<SoakData | undefined> {
  current.name = 'verdict'
  say('Stopping the load, then checking every acknowledged write.')
  const unfinished = await load.stop()
  if (unfinished > 0)
    say(`${unfinished} clients did not finish; the outcome of their last request is unknown.`)
  await sampler.stop()
  return soak?.stop()
}

async function judge(
  { lab, load, feed, history, historyFile }: Running,
  violations: Violations,
): Promise<void> {
  const { follower, client } = load
  await feed.checkAll()
  for (const violation of checkEvents(history, follower.mirror)) violations.add(violation)
  await follower.stop()
  try {
    for (const violation of findViolations(history, await readTables(lab, client))) violations.add(violation)
  } catch (error) {
    const text = `the tables of the primary cannot be read: ${error}`
    violations.add({ kind: 'notHealthy', subject: 'tables', text })
  }
  client.close()
  await historyFile.close()
}

function rowText(row: FaultRow, number: number, total: number): string {
  const { fault, detail, leaderBefore = 'none', leaderAfter = 'none', secondsUntilHealthy } = row
  const leader = leaderBefore === leaderAfter ? leaderBefore : `${leaderBefore} → ${leaderAfter}`
  const healthy = secondsUntilHealthy === null ? 'not healthy' : `healthy after ${secondsUntilHealthy} s`
  return `${number}/${total} ${fault} (${detail}): gap of writes ${row.writeGapSeconds} s, reads ${row.readGapSeconds} s, orders ${row.orderGapSeconds} s, events ${row.feedGapSeconds} s; leader ${leader}; ${healthy}; ${row.acknowledged} acknowledged; max ${row.peak.connections} connections, ${row.peak.waitingForReplication} waiting for replication; ${mirrorText(row)}`
}

function mirrorText({ mirror, feedLagSeconds }: FaultRow): string {
  if (mirror === null) return 'mirror not compared'
  const { pets, orders, differences } = mirror
  return `mirror of ${pets} pets and ${orders} orders: ${differences} differences; feed lag ${feedLagSeconds} s`
}

function writeReport(
  report: Report,
  runFolder: string,
  { json, chart }: Options,
  soakData: SoakData | undefined,
): void {
  const data = `${JSON.stringify({ ...report, soakData }, null, 2)}\n`
  const drawing = soakData ? drawSoakChart(soakData, report.faults, report.seconds) : drawDrillChart(report)
  writeFileSync(join(runFolder, 'report.md'), toMarkdown(report))
  for (const path of [join(runFolder, 'report.json'), json]) if (path !== undefined) writeFileSync(path, data)
  for (const path of [join(runFolder, 'chart.svg'), chart])
    if (path !== undefined) writeFileSync(path, drawing)
}
