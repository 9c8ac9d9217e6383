// Every statement of an operation, at every moment, with every kind of fault; and what must come of each.
import { type Aim, type Lane, POOL_SIZE } from './lane.ts'
import { inTime, type Operation, type Trial } from './operation.ts'
import { count, countOutcome, judgeEffects, type Outcome, OUTCOMES } from './tally.ts'
import { type Fault, MOMENTS } from '../../support/wire-faults.ts'

const SETTLED_WITHIN_MS = 60_000

export interface Cell extends Aim {
  operation: Operation
  /** The statement that comes after it. */
  next: string | undefined
}

/** The statements of the operation in their sequence, as they are without a fault and on an open connection. */
export async function traceOf(lane: Lane, operation: Operation): Promise<string[]> {
  await lane.client.get('/pets?limit=1')
  const trial = await operation.prepare(lane)
  lane.aim(undefined)
  const outcome = await trial.run()
  if (outcome !== 'done') throw new Error(`${operation.name} was ${outcome} without a fault`)
  const trace = [...lane.seen]
  if ((await trial.effects?.()) === 0) throw new Error(`${operation.name} did nothing`)
  return trace
}

/** Every fault at every statement of a sequence where it can happen. */
export function aimsAt(
  trace: readonly string[],
  faults: readonly Fault[],
): (Aim & { next: string | undefined })[] {
  let isInTransaction = false
  return trace.flatMap((statement, index) => {
    const possible = faults.filter(({ kind }) => kind !== 'idle too long' || isInTransaction)
    if (statement === 'begin') isInTransaction = true
    if (statement === 'commit' || statement === 'rollback') isInTransaction = false
    const occurrence = trace.slice(0, index + 1).filter((one) => one === statement).length
    return possible.map((fault) => ({ statement, occurrence, fault, next: trace[index + 1] }))
  })
}

/** All that is over in a moment: everything but silence. */
export const QUICK_FAULTS: Fault[] = [
  ...MOMENTS.flatMap((moment): Fault[] => [
    { moment, kind: 'end' },
    { moment, kind: 'reset' },
  ]),
  { moment: 'before it is sent', kind: 'delay' },
  { moment: 'half sent', kind: 'delay' },
  { moment: 'half a row answered', kind: 'delay' },
  { moment: 'done, not answered', kind: 'reset on one side' },
  { moment: 'before it is sent', kind: 'shutdown' },
  { moment: 'done, not answered', kind: 'shutdown' },
  { moment: 'before it is sent', kind: 'idle too long' },
  { moment: 'answered but for its end', kind: 'warning' },
]

/** Each costs the time-out of the service. */
export const SILENT_FAULTS: Fault[] = [
  { moment: 'before it is sent', kind: 'silence' },
  { moment: 'done, not answered', kind: 'silence' },
  { moment: 'half a row answered', kind: 'silence' },
]

interface Expected {
  outcome: Outcome
  /** How often it is in the database. */
  effects: number
}

const DONE: Expected = { outcome: 'done', effects: 1 }

/** Everything that may come of a fault, and no more than that. */
function expectedOf({ operation, statement, fault, next }: Cell): Expected[] {
  const { moment, kind } = fault
  // What was idle for too long was surely rolled back, and is repeated.
  if (kind === 'delay' || kind === 'idle too long') return [DONE]
  const isCommit = statement === operation.commits
  if (kind === 'warning') return isCommit ? [{ outcome: 'outcome_unknown', effects: 1 }] : [DONE]
  if (moment === 'after its answer') {
    // What comes next may be written before the service hears that nobody reads it any more.
    const mayBeUnknown = !isCommit && next === operation.commits && next !== undefined
    return mayBeUnknown ? [DONE, { outcome: 'outcome_unknown', effects: 0 }] : [DONE]
  }
  if (isCommit) {
    const arrived = kind === 'silence' || (moment !== 'before it is sent' && moment !== 'half sent')
    return [{ outcome: 'outcome_unknown', effects: arrived ? 1 : 0 }]
  }
  // Opening a connection has a shorter limit than the two seconds for which an attempt is repeated; a statement has not.
  const isConnecting = statement === 'startup' || statement === 'password'
  if (kind === 'silence' && !isConnecting) return [{ outcome: 'unavailable', effects: 0 }]
  return [DONE]
}

/** Makes it happen once and looks at everything; answers what is wrong. */
export async function tryCell(lane: Lane, cell: Cell): Promise<string[]> {
  const { wrong, isSlow } = await tryOnce(lane, cell)
  // Where the machine has so much other work that a limit ran out, the answer is true, but it is not the one to see.
  return isSlow ? (await tryOnce(lane, cell)).wrong : wrong
}

async function tryOnce(lane: Lane, cell: Cell): Promise<{ wrong: string[]; isSlow: boolean }> {
  const wrong: string[] = []
  const trial = await cell.operation.prepare(lane)
  lane.aim(cell)
  const outcome = await run(trial)
  if (lane.injected() !== 1) wrong.push(`happened ${lane.injected()} times: ${lane.seen.join(', ')}`)
  lane.aim(undefined)
  await lane.proxy.settled()

  const expected = expectedOf(cell)
  const effects = await trial.effects?.()
  const fits = expected.some(
    (one) => one.outcome === outcome && (effects === undefined || one.effects === effects),
  )
  if (!fits) wrong.push(`${outcome}, there ${effects} times, instead of ${JSON.stringify(expected)}`)
  if (isOutcome(outcome)) {
    countOutcome(outcome)
    if (effects !== undefined) wrong.push(...judgeEffects([outcome], effects))
    if (outcome !== 'done') wrong.push(...(await repeat(cell.operation, trial, outcome, effects)))
  } else count('answers of another kind')
  wrong.push(...(await leaks(lane)))
  const isSlow = !fits && wrong.length === 1 && outcome === 'unavailable' && !effects
  return { wrong: wrong.map((what) => `${describe(cell)}: ${what}`), isSlow }
}

function describe({ operation, statement, occurrence, fault }: Cell): string {
  return `${operation.name}, ${statement} ${occurrence}, ${fault.kind} ${fault.moment}`
}

/** Its outcome, or what it said instead of one. */
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

/** What a careful client does next, without a fault: it must come out done, and once. */
async function repeat(
  operation: Operation,
  trial: Trial,
  first: Outcome,
  effectsBefore: number | undefined,
): Promise<string[]> {
  // It may be there, and repeating would make a second one: who looks sees it, and is done.
  if (first === 'outcome_unknown' && !operation.isIdempotent && effectsBefore !== 0) return []
  if (first === 'outcome_unknown' && operation.forgetsUnknown) return []
  const outcome = await run(trial)
  if (outcome !== 'done') return [`repeated without a fault: ${outcome}`]
  count('repeated until done')
  const effects = await trial.effects?.()
  return effects === undefined ? [] : judgeEffects([first, 'done'], effects)
}

/** Every connection is back in the pool, and none is open that the pool does not know. */
async function leaks({ db, proxy }: Lane): Promise<string[]> {
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
