// What every run of the drill begins with: a folder for its files, the list of its violations, and a cluster.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Lab, startLab } from '../cluster/cluster.ts'
import { createRandom } from '../parts/random.ts'
import { collectViolations, type Violations } from '../parts/violations.ts'
import type { Options } from './options.ts'

export interface Run {
  startedAt: Date
  folder: string
  violations: Violations
  lab: Lab
}

/** The name of a folder says what was run, and when. */
export async function startRun(
  name: string,
  { seed, folder, service, connection, replication }: Options,
  say: (line: string) => void,
): Promise<Run> {
  const startedAt = new Date()
  const runFolder = join(folder, 'runs', `${startedAt.toISOString().replaceAll(/[:.]/g, '-')}-${name}`)
  mkdirSync(runFolder, { recursive: true })
  say(`Files of this run: ${runFolder}`)
  const lab = await startLab({
    root: join(folder, 'root'),
    service,
    connection,
    replication,
    random: createRandom(seed, 'lab'),
    say,
    logFolder: runFolder,
  })
  return { startedAt, folder: runFolder, violations: collectViolations(say), lab }
}
