// Runs one fault of the alert drill in an environment of its own: a healthy phase, the fault, its alerts, its end.
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '../parts/wait-until.ts'
import { type Environment, openEnvironment } from './environment.ts'
import { type Planted, type PlantedFault, secondsUntilDue } from './planted-fault.ts'
import type { Template } from './template.ts'

/** The goal: how long after its due time an alert may arrive. */
export const LATE_SECONDS_MAX = 60
/** An alert that is later than that is still waited for, to report how late it is. */
const GIVE_UP_SECONDS = 120
const WATCH_SECONDS = 60
const RESOLVED_WITHIN_SECONDS = 150
const CALM_TIMEOUT_MS = 180_000
const CALM_POLL_MS = 1_000
const POLL_MS = 250
const STEP_SECONDS = 2

export interface FaultRow {
  fault: string
  description: string
  expected: string[]
  /** What an operator got. */
  notified: string[]
  /** What fired in Prometheus: the above, and what Alertmanager inhibited. */
  firing: string[]
  /** From the fault to the last of the expected notifications; null without one. */
  secondsAfterFault: number | null
  /** The same, from the time at which the last of the expected alerts was due. */
  secondsAfterDue: number | null
  /** From the end of the fault until all of its alerts were resolved; null if that was not tried. */
  secondsUntilResolved: number | null
  responses: number
  failedResponses: number
  /** Empty if everything was as expected. */
  problems: string[]
}

export interface FaultRunOptions {
  name: string
  fault: PlantedFault
  template: Template
  folder: string
  /** How long the load runs, at least, before the healthy phase. */
  warmUpSeconds: number
  /** How long nothing may fire before the fault. */
  healthySeconds: number
  /** Instead of the time of the fault. */
  watchSeconds?: number
  /** Whether to end the fault and wait until its alerts are resolved. */
  heals: boolean
  intervalSeconds?: number
  groupWaitSeconds?: number
  say: (text: string) => void
}

export async function runFault(options: FaultRunOptions): Promise<FaultRow> {
  const { name, fault, folder, template } = options
  const { needs = {} } = fault
  const { intervalSeconds, groupWaitSeconds } = options
  const environment = await openEnvironment({ folder, template, needs, intervalSeconds, groupWaitSeconds })
  try {
    await warmUp(environment, options.warmUpSeconds)
    return await plantAndWatch(environment, options)
  } catch (error) {
    throw new Error(`${name} failed; its logs are in ${folder}`, { cause: error })
  } finally {
    await environment.close()
  }
}

async function plantAndWatch(environment: Environment, options: FaultRunOptions): Promise<FaultRow> {
  const { name, fault, say } = options
  const expected: string[] = fault.expected
  const inhibited: string[] = fault.inhibited ?? []
  const problems = await checkHealthy(environment, options.healthySeconds)

  say(`${name}: ${fault.description}`)
  const startedAt = Date.now()
  const planted = await fault.plant(environment)
  const since = planted.since ?? startedAt
  const dueAt = since + secondsUntilDue(fault) * 1_000
  const arrivedAt = await waitForNotifications(environment, expected, startedAt, dueAt)
  if (expected.length > 0) say(`${name}: ${describeArrival(arrivedAt, since, dueAt)}`)
  if (arrivedAt === undefined) problems.push(`not all alerts arrived: ${expected.join(', ')}`)
  else if (arrivedAt > dueAt + LATE_SECONDS_MAX * 1_000) problems.push('the alert was late')
  await sleep((options.watchSeconds ?? fault.watchSeconds ?? WATCH_SECONDS) * 1_000)

  const secondsUntilResolved = options.heals ? await healAndWait(environment, options, planted) : null
  if (secondsUntilResolved === undefined) problems.push('the alerts were not resolved in time')
  const notified = notifiedSince(environment, startedAt)
  const firing = await firedSince(environment, startedAt)
  const unexpected = notified.filter((alert) => !expected.includes(alert))
  if (unexpected.length > 0) problems.push(`also sent: ${unexpected.join(', ')}`)
  const more = firing.filter((alert) => ![...expected, ...inhibited, ...unexpected].includes(alert))
  if (more.length > 0) problems.push(`also fired in Prometheus: ${more.join(', ')}`)
  const secondsSince = (time: number) =>
    expected.length === 0 || arrivedAt === undefined ? null : (arrivedAt - time) / 1_000
  return {
    fault: name,
    description: fault.description,
    expected,
    notified,
    firing,
    secondsAfterFault: secondsSince(since),
    secondsAfterDue: secondsSince(dueAt),
    secondsUntilResolved: secondsUntilResolved ?? null,
    responses: environment.load.counts.responses,
    failedResponses: environment.load.counts.failed,
    problems,
  }
}

/** The first requests of a process are slow. On a busy host, the share of slow requests takes longer to fall. */
async function warmUp({ prometheus }: Environment, seconds: number): Promise<void> {
  await sleep(seconds * 1_000)
  const isCalm = async () => (await prometheus.query('ALERTS')).length === 0
  await waitUntil('no alert is pending', CALM_TIMEOUT_MS, isCalm, CALM_POLL_MS)
}

/** Nothing may fire, and at the end nothing may be about to. */
async function checkHealthy(environment: Environment, seconds: number): Promise<string[]> {
  const startedAt = Date.now()
  await sleep(seconds * 1_000)
  const fired = await firedSince(environment, startedAt)
  const pending = (await environment.prometheus.query('ALERTS')).map(({ labels }) => labels['alertname'])
  const sent = environment.receiver.notifications.map(({ alert }) => alert)
  const alerts = [...new Set([...fired, ...pending, ...sent])]
  return alerts.length === 0 ? [] : [`before the fault: ${alerts.join(', ')}`]
}

/** Returns when the last of them arrived; undefined if one did not. */
async function waitForNotifications(
  { receiver }: Environment,
  expected: readonly string[],
  startedAt: number,
  dueAt: number,
): Promise<number | undefined> {
  const giveUpAt = dueAt + GIVE_UP_SECONDS * 1_000
  for (;;) {
    const first = expected.map((name) =>
      receiver.notifications.find(({ alert, status, at }) => {
        return alert === name && status === 'firing' && at >= startedAt
      }),
    )
    if (first.every((found) => found !== undefined)) return Math.max(startedAt, ...first.map(({ at }) => at))
    if (Date.now() > giveUpAt) return undefined
    await sleep(POLL_MS)
  }
}

function describeArrival(arrivedAt: number | undefined, since: number, dueAt: number): string {
  if (arrivedAt === undefined) return 'not all alerts arrived'
  const seconds = (from: number) => ((arrivedAt - from) / 1_000).toFixed(1)
  return `alert ${seconds(since)} s after the fault, ${seconds(dueAt)} s after it was due`
}

/** Ends the fault. Returns the seconds until its alerts were resolved, null if it has no end, undefined if it took too long. */
async function healAndWait(
  { receiver }: Environment,
  { name, fault, say }: FaultRunOptions,
  { heal }: Planted,
): Promise<number | null | undefined> {
  if (heal === undefined) return null
  const { expected, resolvedWithinSeconds = RESOLVED_WITHIN_SECONDS } = fault
  const startedAt = Date.now()
  await heal()
  const isResolved = (wanted: string) =>
    receiver.notifications.some(({ alert, status, at }) => {
      return alert === wanted && status === 'resolved' && at >= startedAt
    })
  while (!expected.every(isResolved)) {
    if (Date.now() > startedAt + resolvedWithinSeconds * 1_000) return undefined
    await sleep(POLL_MS)
  }
  const seconds = (Date.now() - startedAt) / 1_000
  say(`${name}: resolved ${seconds.toFixed(1)} s after the end of the fault`)
  return seconds
}

function notifiedSince({ receiver }: Environment, time: number): string[] {
  const fired = receiver.notifications.filter(({ status, at }) => status === 'firing' && at >= time)
  return [...new Set(fired.map(({ alert }) => alert))]
}

async function firedSince({ prometheus }: Environment, time: number): Promise<string[]> {
  const range = { from: time / 1_000, to: Date.now() / 1_000, stepSeconds: STEP_SECONDS }
  const series = await prometheus.queryRange('ALERTS{alertstate="firing"}', range)
  return [...new Set(series.map(({ labels }) => labels['alertname'] ?? ''))]
}
