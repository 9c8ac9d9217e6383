// Imports small CSV files with `petstore import`, and retries each file until its import succeeds.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../cluster/cluster.ts'
import type { LoadContext, Worker } from './context.ts'
import { importedName } from './history.ts'

const ROWS = 500
const IMPORT_EVERY_MS = 20_000
const RETRY_AFTER_MS = 2_000
const ATTEMPTS_MAX = 100
const CATEGORY = 4
const POLL_MS = 200

/** `petstore import` writes its list of rejected rows, which stays empty, to `folder`. */
export function importerOf(lab: Pick<Lab, 'runCommand'>, folder: string): Worker {
  return async (context) => {
    for (let number = 0; !context.stopping; number += 1) {
      await importFile(lab, folder, context, `${context.history.prefix}i${number}`)
      const nextAt = performance.now() + IMPORT_EVERY_MS
      while (!context.stopping && performance.now() < nextAt) await sleep(POLL_MS)
    }
  }
}

async function importFile(
  lab: Pick<Lab, 'runCommand'>,
  folder: string,
  context: LoadContext,
  name: string,
): Promise<void> {
  const file = { name, rows: ROWS, finished: false }
  context.history.imports.push(file)
  const rows = Array.from({ length: ROWS }, (_, row) => `${importedName(name, row)},${CATEGORY}\n`)
  const rejected = join(folder, `${name}.rejected.csv`)
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const args = ['import', '-', '--id', name, '--rejected', rejected]
    const { exitCode, stderr } = await lab
      .runCommand(args, `name,categoryId\n${rows.join('')}`)
      .catch((error: unknown) => ({ exitCode: -1, stderr: String(error) }))
    context.historyFile.append({ import: name, attempt, exitCode, ...(exitCode !== 0 && { stderr }) })
    if (exitCode === 0) {
      file.finished = true
      context.totals.importedRows += ROWS
      return
    }
    if (performance.now() > context.endsAt) return
    await sleep(RETRY_AFTER_MS)
  }
}
