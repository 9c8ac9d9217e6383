// Collects violations: counts each kind, and keeps a few examples.

export const VIOLATION_KINDS = {
  lost: 'acknowledged pet lost',
  duplicated: 'pet or order duplicated',
  changed: 'another name under an acknowledged id',
  presentAlthoughRejected: 'present although the service reported that nothing was changed',
  soldTwice: 'pet sold twice',
  orderUndone: 'order lost or undone',
  statusUndone: 'status change undone',
  importRow: 'imported row missing or duplicated',
  inventory: 'inventory differs from the number of pets',
  staleRead: 'stale read',
  mirror: 'mirror of the event feed differs from the database',
  eventMissing: 'acknowledged change without its event',
  eventUnexpected: 'event that contradicts earlier events of its pet or order',
  eventChanged: 'event lost or changed after it was read',
  feedGap: 'gap in the numbers of events',
  feedExpired: 'position of the feed expired without a new epoch',
  undocumented: 'undocumented response',
  restoredTooLittle: 'acknowledged before the moment of the restore, and missing',
  restoredTooMuch: 'sent after the moment of the restore or rejected, and restored',
  restoredWrong: 'restored with another content',
  restoreDiffers: 'two copies of the same moment differ',
  restoredUnusable: 'restored database or service does not work',
  unnoticed: 'damaged backup or archive not noticed',
  notResumed: 'writes did not resume',
  notHealthy: 'cluster did not become healthy, or a fault could not be caused',
} as const

export type ViolationKind = keyof typeof VIOLATION_KINDS

export interface Violation {
  kind: ViolationKind
  /** Identifies the pet, order or request. The same subject counts once per kind. */
  subject: string
  text: string
}

const EXAMPLES_MAX = 5

export interface ViolationSummary {
  kind: ViolationKind
  description: string
  count: number
  examples: string[]
}

export interface Violations {
  add: (violation: Violation) => void
  count: () => number
  /** Every kind, also those without a violation. */
  summary: () => ViolationSummary[]
}

/** `onExample` gets the violations that are kept as examples, when they are found. */
export function collectViolations(onExample: (text: string) => void): Violations {
  const seen = new Set<string>()
  const found = new Map<ViolationKind, { count: number; examples: string[] }>()
  let total = 0
  return {
    add: ({ kind, subject, text }) => {
      const identity = `${kind} ${subject}`
      if (seen.has(identity)) return
      seen.add(identity)
      total += 1
      const entry = found.get(kind) ?? { count: 0, examples: [] }
      found.set(kind, entry)
      entry.count += 1
      if (entry.examples.length >= EXAMPLES_MAX) return
      entry.examples.push(text)
      onExample(`VIOLATION: ${VIOLATION_KINDS[kind]}: ${text}`)
    },
    count: () => total,
    summary: () =>
      Object.entries(VIOLATION_KINDS).map(([kind, description]) => ({
        kind: kind as ViolationKind,
        description,
        ...(found.get(kind as ViolationKind) ?? { count: 0, examples: [] }),
      })),
  }
}
