// Deletes the data of PostgreSQL while clients write, follows the section "Restore" of docs/production.md, and compares the
// store with what the clients sent.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PetRow } from '../parts/store-rows.ts'
import type { Violation } from '../parts/violations.ts'
import { compareWithJournal } from '../restore/compare.ts'
import { Journal, type Moment } from '../restore/journal.ts'
import { findLost } from '../restore/total-loss.ts'
import { waitForArchive } from './checks.ts'
import type { Machine } from './machine.ts'
import { startPetWriters } from './pet-writers.ts'
import { askOnce, endOfArchive, readPets, watchPosition } from './psql-session.ts'

/** The load continues after the loss, until an operator has noticed it. */
const NOTICED_AFTER_MS = 3_000
/** Load after a moment, so that the archive has a later commit. Otherwise no restore could stop at the moment. */
const LOAD_AFTER_MS = 2_000
/** Seconds from the end of an archived segment until the loss. archive_timeout is 60 s. Undefined: restore a moment. */
const ROUNDS: LostAfterSeconds[] = [10, undefined, 30, undefined, 50, undefined]

type LostAfterSeconds = number | undefined

export interface RestoreRow {
  target: 'newest' | 'moment'
  /** Pets acknowledged before the loss. */
  acknowledged: number
  /** Pets that had to be there, that had to be absent, and that were in flight at the end of the restored WAL. */
  required: number
  excluded: number
  possible: number
  /** Pets acknowledged before the loss, or before the moment, that are not there, and the age of the oldest one. */
  lost: number
  lostSeconds: number
  /** From the first command of the section to the first pet that was created after it. */
  recoverySeconds: number
}

export interface RestoresOptions {
  machine: Machine
  apiKey: string
  logFolder: string
  say: (text: string) => void
  /** Follows the section: restores this moment, or else the newest state. */
  restore: (moment?: string) => Promise<void>
}

/** Throws an error if a restore has lost or invented a pet. */
export async function runRestores(options: RestoresOptions, rounds = ROUNDS): Promise<RestoreRow[]> {
  const rows: RestoreRow[] = []
  for (const [index, lostAfterSeconds] of rounds.entries()) {
    const row = await runRound(options, `round-${index + 1}-`, lostAfterSeconds)
    rows.push(row)
    options.say(JSON.stringify(row))
  }
  options.say(toTable(rows))
  return rows
}

async function runRound(
  options: RestoresOptions,
  prefix: string,
  lostAfterSeconds: LostAfterSeconds,
): Promise<RestoreRow> {
  const { machine, restore } = options
  const earlier = await readPets(machine)
  const writers = await startPetWriters({ ...options, prefix })
  const watch = watchPosition(machine)
  let moment: Moment | undefined
  let startedAt: number
  let lostAt: number
  try {
    await waitForArchive(machine)
    moment = lostAfterSeconds === undefined ? await askOnce(machine, 'select clock_timestamp()') : undefined
    await sleep(lostAfterSeconds === undefined ? LOAD_AFTER_MS : lostAfterSeconds * 1000)
    if (moment !== undefined) await waitForArchive(machine)
    lostAt = performance.now()
    await machine.runChecked(['rm', '--recursive', '--force', dataFolder(machine)])
    await sleep(NOTICED_AFTER_MS)
    const end = endOfArchive(await newestSegment(machine), await watch.stop())
    moment ??= end
    startedAt = performance.now()
    await restore(moment === end ? undefined : moment.text)
  } finally {
    await writers.stop()
  }
  const pets = await readPets(machine)
  const sent = splitJournal(writers.journal, startedAt)
  const recoverySeconds = (firstCreated(sent.after, pets) - startedAt) / 1000
  const restored = pets.filter(({ name }) => !sent.after.pets.has(name))
  checkEarlier(earlier, restored, prefix)
  const rows = { pets: restored.filter(({ name }) => name.startsWith(prefix)), orders: [] }
  const { violations, ...counts } = compareWithJournal(sent.before, rows, moment)
  if (violations.length > 0) throw new Error(describe(violations))
  const { lostChanges, lostSeconds } = findLost(
    sent.before,
    rows,
    lostAfterSeconds === undefined ? moment.from : lostAt,
  )
  return {
    target: lostAfterSeconds === undefined ? 'moment' : 'newest',
    acknowledged: findLost(sent.before, rows, lostAt).acknowledgedBefore,
    ...counts,
    lost: lostChanges,
    lostSeconds,
    recoverySeconds,
  }
}

function dataFolder(machine: Machine): string {
  const settings = readFileSync(join(machine.root, 'etc/pgbackrest/conf.d/petstore.conf'), 'utf8')
  const folder = /^pg1-path=(\/.+)$/m.exec(settings)?.[1]
  if (folder === undefined) throw new Error('pgBackRest does not know the data folder')
  return folder
}

/** The newest segment of WAL in the first place, from which pgBackRest restores. */
async function newestSegment(machine: Machine): Promise<string> {
  const info = ['pgbackrest', '--stanza=petstore', '--repo=1', '--output=json', 'info']
  const text = await machine.runChecked(['runuser', '-u', 'postgres', '--', ...info])
  const [stanza] = JSON.parse(text) as { archive: { max: string }[] }[]
  const newest = stanza?.archive.at(-1)?.max
  if (newest === undefined) throw new Error('the archive is empty')
  return newest
}

/** What was sent before the restore began, and what after. */
export function splitJournal(journal: Journal, startedAt: number): { before: Journal; after: Journal } {
  const [before, after] = [new Journal(), new Journal()]
  for (const [name, change] of journal.pets)
    (change.sentAt < startedAt ? before : after).pets.set(name, change)
  return { before, after }
}

/** When the restored service first created a pet. It must have kept this pet and all that it created after it. */
export function firstCreated({ pets: sent }: Journal, pets: readonly PetRow[]): number {
  const names = new Set(pets.map(({ name }) => name))
  const acknowledged = [...sent].flatMap(([name, { acknowledgedAt, sentAt }]) =>
    acknowledgedAt === undefined ? [] : [{ name, sentAt, acknowledgedAt }],
  )
  const first = Math.min(
    ...acknowledged.filter(({ name }) => names.has(name)).map(({ acknowledgedAt }) => acknowledgedAt),
  )
  if (first === Number.POSITIVE_INFINITY) throw new Error('the restored service created no pet')
  const lost = acknowledged.filter(({ name, sentAt }) => sentAt > first && !names.has(name))
  if (lost.length > 0) throw new Error(`${lost.length} pets created after the restore are lost`)
  return first
}

/** The pets from before the round are archived, and no request of the round changes them. */
export function checkEarlier(earlier: readonly PetRow[], restored: readonly PetRow[], prefix: string): void {
  const others = restored.filter(({ name }) => !name.startsWith(prefix))
  const textOf = (pets: readonly PetRow[]) => JSON.stringify(pets.toSorted((a, b) => a.id - b.id))
  if (textOf(earlier) !== textOf(others))
    throw new Error(
      `${earlier.length} pets existed before the load, and ${others.length} do after the restore`,
    )
}

const describe = (violations: readonly Violation[]) =>
  `${violations.length} violations, such as: ${violations[0]?.text}`

function toTable(rows: readonly RestoreRow[]): string {
  const lines = rows.map((row) =>
    [
      row.target,
      row.acknowledged,
      row.required,
      row.excluded,
      row.possible,
      row.lost,
      row.lostSeconds.toFixed(1),
      row.recoverySeconds.toFixed(1),
    ].join(' | '),
  )
  const head =
    'Restored | Acknowledged | Required | Excluded | In flight | Lost | Recovery point (s) | Recovery time (s)'
  return [head, '---|---|---|---|---|---|---|---', ...lines].map((line) => `| ${line} |`).join('\n')
}
