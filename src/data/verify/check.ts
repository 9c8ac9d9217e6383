// What a check of `petstore verify` is, and how its rules are evaluated.
import type { Reader } from '../../db/database.ts'

/** Max ids that a message names. */
const NAMED_MAX = 5

export interface Finding {
  state: 'ok' | 'warning' | 'fault'
  message: string
  remedy?: string
}

export interface CheckResult extends Finding {
  check: string
  durationMs: number
}

/** The snapshot of the database that all checks read. */
export interface Snapshot extends Reader {
  /** Runs a statement without a name. */
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>
  /** If `work` fails, the snapshot stays usable. */
  attempt<Value>(work: () => Promise<Value>): Promise<Value>
  /** Called while the rows of all tables are read. */
  onProgress: (bytes: number, bytesTotal: number) => void
}

export interface Check {
  name: string
  /** The other checks need what this one checks: they do not run if it fails. */
  isRequired?: true
  run: (snapshot: Snapshot) => Promise<Finding>
}

/** A statement that returns the column `id` of every row that breaks the rule. */
export interface Rule {
  fault: string
  remedy: string
  text: string
}

/** For data that cannot be computed from other data. */
export const RESTORE_ANOTHER =
  'Restore another backup. Also verify the original database, which may have the same fault.'

/** Evaluates all rules, also after one is broken. */
export async function applyRules(
  snapshot: Snapshot,
  rules: readonly Rule[],
  message: string,
): Promise<Finding> {
  const faults: string[] = []
  const remedies = new Set<string>()
  for (const { fault, remedy, text } of rules) {
    const rows = await snapshot.query<{ id: string; count: number }>(
      `select id::text, (count(*) over ())::int as count from (${text}) as broken order by broken.id limit ${NAMED_MAX}`,
    )
    const [first] = rows
    if (first === undefined) continue
    const others = first.count > rows.length ? ', …' : ''
    faults.push(`${fault} (${first.count}): ${rows.map(({ id }) => id).join(', ')}${others}`)
    remedies.add(remedy)
  }
  if (faults.length === 0) return { state: 'ok', message }
  return { state: 'fault', message: faults.join('; '), remedy: [...remedies].join(' ') }
}
