// Tries every statement of an operation, at every moment, with every kind of fault, and checks the outcome.
import { type PlannedFault, type FaultFixture, POOL_SIZE } from './fixture.ts'
import { inTime, type Operation, type Trial } from './operation.ts'
import { ATTEMPTS_MAX, countLate, mayBeLate, workInTime } from '../late.ts'
import { count, countOutcome, judgeEffects, type Outcome, OUTCOMES } from './tally.ts'
import { type Fault, MOMENTS } from '../../support/wire-faults.ts'

const SETTLED_WITHIN_MS = 120_000

export interface Cell extends PlannedFault {
  operation: Operation
  /** The statement that follows. */
  next: string | undefined
}

/** The statements of the operation in order, without a fault and on an open connection. */
export async function traceOf(fixture: FaultFixture, operation: Operation): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now()
    const trace = await workInTime(() => traceOnce(fixture, operation))
    // If a timeout expired, the service has repeated statements.
    if (!mayBeLate(startedAt) || attempt === ATTEMPTS_MAX) return trace
    countLate()
  }
}

async function traceOnce(fixture: FaultFixture, operation: Operation): Promise<string[]> {
  await fixture.client.get('/pets?limit=1')
  const trial = await operation.prepare(fixture)
  fixture.plan(undefined)
  const outcome = await trial.run()
  if (outcome !== 'done') throw new Error(`${operation.name} was ${outcome} without a fault`)
  const trace = [...fixture.seen]
  if ((await trial.effects?.()) === 0) throw new Error(`${operation.name} did nothing`)
  return trace
}

/** Every possible fault at every statement of a trace. */
export function plannedFaults(
  trace: readonly string[],
  faults: readonly Fault[],
): (PlannedFault & { next: string | undefined })[] {
  let isInTransaction = false
  return trace.flatMap((statement, index) => {
    const possible = faults.filter(({ kind }) => kind !== 'idle timeout' || isInTransaction)
    if (statement === 'begin') isInTransaction = true
    if (statement === 'commit' || statement === 'rollback') isInTransaction = false
    const occurrence = trace.slice(0, index + 1).filter((one) => one === statement).length
    return possible.map((fault) => ({ statement, occurrence, fault, next: trace[index + 1] }))
  })
}

/** Every fault that takes effect at once: all except silence. */
export const QUICK_FAULTS: Fault[] = [
  ...MOMENTS.flatMap((moment): Fault[] => [
    { moment, kind: 'end' },
    { moment, kind: 'reset' },
  ]),
  { moment: 'before sending', kind: 'delay' },
  { moment: 'half sent', kind: 'delay' },
  { moment: 'half a row received', kind: 'delay' },
  { moment: 'executed, no response yet', kind: 'reset on one side' },
  { moment: 'before sending', kind: 'shutdown' },
  { moment: 'executed, no response yet', kind: 'shutdown' },
  { moment: 'before sending', kind: 'idle timeout' },
  { moment: 'before the end of the response', kind: 'warning' },
]

/** Each of these takes as long as the timeout of the service. */
export const SILENT_FAULTS: Fault[] = [
  { moment: 'before sending', kind: 'silence' },
  { moment: 'executed, no response yet', kind: 'silence' },
  { moment: 'half a row received', kind: 'silence' },
]

interface Expected {
  outcome: Outcome
  /** How many times the change is in the database. */
  effects: number
}

const DONE: Expected = { outcome: 'done', effects: 1 }

/** The outcomes that a fault may have. */
function expectedOf({ operation, statement, fault, next }: Cell): Expected[] {
  const { moment, kind } = fault
  // A transaction that was idle too long was rolled back, so the service retries it.
  if (kind === 'delay' || kind === 'idle timeout') return [DONE]
  const isCommit = statement === operation.commits
  if (isCommit && operation.retriesUnknown === true && moment !== 'after the response') {
    // During silence, the timeouts of both attempts can exceed the time for retries.
    const unknown = [0, 1].map((effects): Expected => ({ outcome: 'outcome_unknown', effects }))
    return kind === 'silence' ? [DONE, ...unknown] : [DONE]
  }
  if (kind === 'warning') return isCommit ? [{ outcome: 'outcome_unknown', effects: 1 }] : [DONE]
  if (moment === 'after the response') {
    // The service may send the next statement before it notices that the connection is closed.
    const mayBeUnknown = !isCommit && next === operation.commits && next !== undefined
    return mayBeUnknown ? [DONE, { outcome: 'outcome_unknown', effects: 0 }] : [DONE]
  }
  if (isCommit) {
    const arrived = kind === 'silence' || (moment !== 'before sending' && moment !== 'half sent')
    return [{ outcome: 'outcome_unknown', effects: arrived ? 1 : 0 }]
  }
  // The connect timeout is shorter than the two seconds for which the service retries; the query timeout is not.
  const isConnecting = statement === 'startup' || statement === 'password'
  if (kind === 'silence' && !isConnecting) return [{ outcome: 'unavailable', effects: 0 }]
  return [DONE]
}

/** What was wrong in a case. */
export interface Verdict {
  wrong: string[]
  /**
   * Whether only the outcome is wrong, and a timeout of the service may have expired before the fault or after it. The
   * outcome is then correct, but not the one to check.
   */
  isLate: boolean
}

/** Injects the fault once, checks everything, and returns what is wrong. */
export async function tryCell(fixture: FaultFixture, cell: Cell): Promise<Verdict> {
  const trial = await workInTime(() => cell.operation.prepare(fixture))
  fixture.plan(cell)
  const startedAt = performance.now()
  const outcome = await run(trial)
  const mayBe = mayBeLate(startedAt)
  const injected = fixture.injected()
  const evidence = describeRun(fixture)
  fixture.plan(undefined)
  await fixture.proxy.settled()

  const expected = expectedOf(cell)
  const effects = await trial.effects?.()
  const unexpected: string[] = []
  if (injected !== 1) unexpected.push(`injected ${injected} times`)
  const fits = expected.some(
    (one) => one.outcome === outcome && (effects === undefined || one.effects === effects),
  )
  if (!fits)
    unexpected.push(
      `${outcome}, stored ${effects ?? 'unknown'} times, instead of ${JSON.stringify(expected)}`,
    )
  const isLate = mayBe && unexpected.length > 0 && isOutcome(outcome)

  const wrong: string[] = []
  if (!isOutcome(outcome)) count('other responses')
  else {
    countOutcome(outcome)
    if (effects !== undefined) wrong.push(...judgeEffects([outcome], effects))
    if (outcome !== 'done' && !isLate)
      wrong.push(...(await retry(fixture, cell.operation, trial, outcome, effects)))
  }
  wrong.push(...(await leaks(fixture)))
  // Now every connection is idle, so a late commit has arrived, too.
  if (isLate && effects === 0) wrong.push(...judgeEffects([outcome], (await trial.effects?.()) ?? 0))
  const all = [...unexpected, ...wrong]
  return {
    wrong: all.map((what) => `${describe(cell)}: ${what}\n${evidence}`),
    isLate: isLate && wrong.length === 0,
  }
}

/** The statements and the log lines of the case that has just run. */
function describeRun({ seen, logged }: FaultFixture): string {
  return [`  statements: ${seen.join(', ')}`, ...logged().map((line) => `  log: ${line}`)].join('\n')
}

/** Names a case, also in PROOF_CASE. */
export function describe({ operation, statement, occurrence, fault }: Cell): string {
  return `${operation.name}, ${statement} ${occurrence}, ${fault.kind} ${fault.moment}`
}

/** The outcome, or the message of the error. */
async function run(trial: Trial): Promise<string> {
  try {
    return await inTime(trial.run())
  } catch (error) {
    return String(error)
  }
}

function isOutcome(text: string): text is Outcome {
  return (OUTCOMES as readonly string[]).includes(text)
}

/** Retries without a fault, as a client would. The retry must succeed, and the change must be in the database once. */
async function retry(
  fixture: FaultFixture,
  operation: Operation,
  trial: Trial,
  first: Outcome,
  effectsBefore: number | undefined,
): Promise<string[]> {
  const outcomes = [first]
  let effects = effectsBefore
  for (let attempt = 1; ; attempt += 1) {
    const last = outcomes.at(-1) as Outcome
    // The change is stored, and a retry would duplicate it. A client must check that before it retries.
    const isStored = last === 'outcome_unknown' && !operation.isIdempotent && effects !== 0
    if (isStored || (last === 'outcome_unknown' && operation.forgetsUnknown)) break
    const startedAt = performance.now()
    const outcome = await run(trial)
    const isLate = isOutcome(outcome) && mayBeLate(startedAt)
    if (outcome !== 'done' && (!isLate || attempt === ATTEMPTS_MAX))
      return [`retried without a fault: ${outcome}`]
    if (outcome !== 'done') {
      countLate()
      await leaks(fixture)
    }
    outcomes.push(outcome)
    effects = await trial.effects?.()
    if (outcome !== 'done') continue
    count('retried until done')
    break
  }
  return effects === undefined || outcomes.length === 1 ? [] : judgeEffects(outcomes, effects)
}

/** Checks that every connection is back in the pool, and that the pool knows every open connection. */
async function leaks({ db, proxy }: FaultFixture): Promise<string[]> {
  const giveUpAt = performance.now() + SETTLED_WITHIN_MS
  for (;;) {
    const { total, idle, waiting } = db.connections()
    const open = proxy.clients()
    if (waiting === 0 && idle === total && total <= POOL_SIZE && open === total) return []
    if (performance.now() > giveUpAt) {
      return [`${total} connections, ${idle} idle, ${waiting} waiting, ${open} open at the proxy`]
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
