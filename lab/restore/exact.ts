// Restores to a moment at which the load pauses, so that the content of the primary at that moment is known exactly. Every
// table of the copy must have the same rows.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Contents, differingTables, readContents } from './contents.ts'
import { onCopy, onPrimary, type RestoreContext, readMoment, rowCount, waitUntilArchived } from './context.ts'
import { Copy } from './copy.ts'
import type { Moment } from './journal.ts'

const PAUSE_TIMEOUT_MS = 60_000
/** Time for the service to number the last events and to fold its counts. */
const SETTLE_MS = 2_000
const ATTEMPTS_MAX = 5

export interface ExactResult {
  moment: string
  tables: number
  rows: number
  differing: string[]
}

export async function compareExactly(context: RestoreContext): Promise<ExactResult> {
  const { lab, load, violations, say } = context
  if (!(await load.gate.pause(PAUSE_TIMEOUT_MS))) throw new Error('Requests of the load do not end.')
  const { moment, contents } = await quietMoment(context).finally(load.gate.resume)
  say(`restoring to ${moment.text}, when the load paused, to compare every table with the primary`)
  await waitUntilArchived(lab)
  const copy = new Copy(context.repository, lab.root, { name: 'exact', target: moment.text })
  try {
    await copy.start()
    const differing = differingTables(await onCopy(copy, readContents), contents)
    for (const table of differing) {
      const text = `the table ${table} is not that of the primary at ${moment.text}`
      violations.add({ kind: 'restoredWrong', subject: `exact ${table}`, text })
    }
    return { moment: moment.text, tables: Object.keys(contents).length, rows: rowCount(contents), differing }
  } finally {
    await copy.remove()
  }
}

/** A moment before and after which the primary has the same content. */
async function quietMoment({ lab }: RestoreContext): Promise<{ moment: Moment; contents: Contents }> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    await sleep(SETTLE_MS)
    const contents = await onPrimary(lab, readContents)
    const moment = await readMoment(lab)
    if (differingTables(contents, await onPrimary(lab, readContents)).length === 0)
      return { moment, contents }
  }
  throw new Error('The database changes although the load is paused.')
}
