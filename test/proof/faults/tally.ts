// What the proof of connection faults counts, where it happens.
import type { Fault, Kind, Moment } from '../../support/wire-faults.ts'

export const OUTCOMES = ['done', 'unavailable', 'overloaded', 'outcome_unknown', 'rejected'] as const
/** Done as asked; one of the three answers of a database that is away; or refused for a reason of the store. */
export type Outcome = (typeof OUTCOMES)[number]

const CUT: Record<Moment, string> = {
  'before it is sent': 'injected: cut before send',
  'half sent': 'injected: cut inside what was sent',
  'sent, no answer yet': 'injected: cut after send, before the answer',
  'done, not answered': 'injected: cut after the work, before its answer',
  'half a row answered': 'injected: cut inside a row',
  'answered but for its end': 'injected: cut before the end of the answer',
  'after its answer': 'injected: cut after the answer',
}
const OTHERS: Record<Exclude<Kind, 'end' | 'reset'>, string> = {
  'reset on one side': 'injected: cut that PostgreSQL hears of later',
  silence: 'injected: silence longer than the time-out',
  delay: 'injected: delay',
  shutdown: 'injected: shutdown of PostgreSQL',
  'idle too long': 'injected: end of a transaction that was idle',
  warning: 'injected: warning of synchronous replication',
}
const AT_CONNECT = 'injected: while connecting or authenticating'

const COUNTED_AS: Record<Outcome, string> = {
  done: 'acknowledged',
  unavailable: 'unavailable',
  overloaded: 'overloaded',
  outcome_unknown: 'outcome unknown',
  rejected: 'refused by a rule of the store',
}

/** In the sequence of the table, so that what never happened is a zero in it and not a gap. */
const NAMES = [
  'statements of the service',
  'statements that met faults',
  ...Object.values(CUT),
  ...Object.values(OTHERS),
  AT_CONNECT,
  'injected in all',
  ...Object.values(COUNTED_AS),
  'repeated until done',
  'imports that finished',
  'imports that were cut off',
  'lost',
  'doubled',
  'there although told not',
  'answers of another kind',
] as const

export type Counted = (typeof NAMES)[number]
export const counts: Record<string, number> = Object.fromEntries(NAMES.map((name) => [name, 0]))

/** Every statement that a fault has really happened to. */
export const faulted = new Set<string>()

export function count(name: Counted, by = 1): void {
  counts[name] = (counts[name] ?? 0) + by
}

export function countFault({ moment, kind }: Fault, statement: string): void {
  faulted.add(statement)
  const isCut = kind === 'end' || kind === 'reset'
  if (statement === 'startup' || statement === 'password') count(AT_CONNECT)
  else count(isCut ? CUT[moment] : OTHERS[kind])
  count('injected in all')
}

export function countOutcome(outcome: Outcome): void {
  count(COUNTED_AS[outcome])
}

/** What a change has become in the database, against what was said of it; answers what is wrong. */
export function judgeEffects(outcomes: readonly Outcome[], effects: number): string[] {
  const wrong: string[] = []
  const note = (name: Counted) => {
    count(name)
    wrong.push(`${name}: told ${outcomes.join(', then ')}, and it is there ${effects} times`)
  }
  if (outcomes.includes('done') && effects === 0) note('lost')
  if (effects > 1) note('doubled')
  const mayBe = outcomes.includes('done') || outcomes.includes('outcome_unknown')
  if (!mayBe && effects > 0) note('there although told not')
  return wrong
}
