// Counts the faults and outcomes of test/proof/faults.
import type { Fault, Kind, Moment } from '../../support/wire-faults.ts'

export const OUTCOMES = ['done', 'unavailable', 'overloaded', 'outcome_unknown', 'rejected'] as const
/** `done`, one of the three errors of an unavailable database, or rejected by a rule of the store. */
export type Outcome = (typeof OUTCOMES)[number]

const CUT: Record<Moment, string> = {
  'before sending': 'injected: cut before sending',
  'half sent': 'injected: cut while sending',
  'sent, no response yet': 'injected: cut after sending, before the response',
  'executed, no response yet': 'injected: cut after execution, before the response',
  'half a row received': 'injected: cut inside a row',
  'before the end of the response': 'injected: cut before the end of the response',
  'after the response': 'injected: cut after the response',
}
const OTHERS: Record<Exclude<Kind, 'end' | 'reset'>, string> = {
  'reset on one side': 'injected: cut that PostgreSQL notices later',
  silence: 'injected: silence longer than the timeout',
  delay: 'injected: delay',
  shutdown: 'injected: shutdown of PostgreSQL',
  'idle timeout': 'injected: idle-in-transaction timeout',
  warning: 'injected: synchronous replication warning',
}
const AT_CONNECT = 'injected: while connecting or authenticating'

const COUNTED_AS: Record<Outcome, string> = {
  done: 'acknowledged',
  unavailable: 'unavailable',
  overloaded: 'overloaded',
  outcome_unknown: 'outcome unknown',
  rejected: 'rejected by a rule of the store',
}

/** The rows of the table in order, including those with a count of zero. */
const NAMES = [
  'statements of the service',
  'statements with injected faults',
  ...Object.values(CUT),
  ...Object.values(OTHERS),
  AT_CONNECT,
  'injected: total',
  ...Object.values(COUNTED_AS),
  'retried until done',
  'imports finished',
  'imports interrupted',
  'lost',
  'duplicated',
  'stored although reported as not done',
  'other responses',
] as const

export type Counted = (typeof NAMES)[number]
export const counts: Record<string, number> = Object.fromEntries(NAMES.map((name) => [name, 0]))

/** Every statement that a fault was injected into. */
export const faulted = new Set<string>()

export function count(name: Counted, by = 1): void {
  counts[name] = (counts[name] ?? 0) + by
}

export function countFault({ moment, kind }: Fault, statement: string): void {
  faulted.add(statement)
  const isCut = kind === 'end' || kind === 'reset'
  if (statement === 'startup' || statement === 'password') count(AT_CONNECT)
  else count(isCut ? CUT[moment] : OTHERS[kind])
  count('injected: total')
}

export function countOutcome(outcome: Outcome): void {
  count(COUNTED_AS[outcome])
}

/** Compares how often a change is in the database with its outcomes. Returns what is wrong. */
export function judgeEffects(outcomes: readonly Outcome[], effects: number): string[] {
  const wrong: string[] = []
  const note = (name: Counted) => {
    count(name)
    wrong.push(`${name}: returned ${outcomes.join(', then ')}, stored ${effects} times`)
  }
  if (outcomes.includes('done') && effects === 0) note('lost')
  if (effects > 1) note('duplicated')
  const mayBe = outcomes.includes('done') || outcomes.includes('outcome_unknown')
  if (!mayBe && effects > 0) note('stored although reported as not done')
  return wrong
}
