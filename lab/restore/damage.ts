// Damages copies of the repository. Each kind of damage must be noticed, otherwise the drill fails.
import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runChecked } from '../parts/processes.ts'
import { onCopy, type RestoreContext } from './context.ts'
import { Copy, tryRestore } from './copy.ts'

const FLIPPED_BYTES = 64
const SEGMENT_BYTES = 16 * 2 ** 20

export interface DamageRow {
  damage: string
  check: string
  /** What the check said; undefined if it did not notice the damage. */
  noticed: string | undefined
  /** Whether it is a violation if the check does not notice the damage. */
  mustNotice: boolean
}

/** `target` is a moment after the segment that is removed. */
export async function checkDamage(context: RestoreContext, target: string): Promise<DamageRow[]> {
  const folder = `${context.repository.folder}/volume/damaged`
  const options = [`--repo1-path=${folder}`]
  const path = context.lab.root.path(folder)
  const rows: DamageRow[] = []
  // pgBackRest checks the files that the archive has. It does not look for segments that are missing after a backup.
  const damages: { damage: string; cause: () => Promise<void>; isSeenByVerify: boolean }[] = [
    {
      damage: '64 bytes changed in a file of the full backup',
      cause: () => changeBytes(path),
      isSeenByVerify: true,
    },
    {
      damage: 'one segment of WAL removed from the archive',
      cause: () => removeSegment(path),
      isSeenByVerify: false,
    },
  ]
  for (const { damage, cause, isSeenByVerify } of damages) {
    await rm(path, { recursive: true, force: true })
    await runChecked('cp', ['--archive', context.lab.root.path(context.repository.repositoryFolder), path])
    await cause()
    const add = (check: string, noticed: string | undefined, mustNotice = true) =>
      rows.push({ damage, check, noticed, mustNotice })
    add('pgbackrest verify', await verifyRepository(context, options), isSeenByVerify)
    add('restore to a moment', await restoreTo(context, options, target))
    add('restore to the end of the archive', await restoreTo(context, options))
  }
  await rm(path, { recursive: true, force: true })
  for (const { damage, check, noticed, mustNotice } of rows) {
    if (noticed !== undefined || !mustNotice) continue
    const text = `${damage}: ${check} did not notice it`
    context.violations.add({ kind: 'unnoticed', subject: `${damage} ${check}`, text })
  }
  return rows
}

/** Also the undamaged repository, so that a check that always fails is no proof. */
export async function verifyRepository(
  { repository }: RestoreContext,
  options: string[] = [],
): Promise<string | undefined> {
  const { exitCode, stdout, stderr } = await repository.tryBackrest([
    ...options,
    '--output=text',
    '--verbose',
    'verify',
  ])
  const text = `${stdout}${stderr}`
  if (exitCode === 0 && !/status: error|ERROR|WARN/.test(text)) return undefined
  return shortened(text)
}

/** A restore that ends before the newest segment of the archive has missed WAL, although PostgreSQL reports no error. */
async function restoreTo(
  { lab, repository }: RestoreContext,
  options: string[],
  target?: string,
): Promise<string | undefined> {
  const copy = new Copy(repository, lab.root, { name: 'damaged', options, ...(target && { target }) })
  try {
    const message = await tryRestore(copy)
    if (message !== undefined) return shortened(message)
    if (target !== undefined) return undefined
    const reached = await onCopy(copy, async (client) => {
      const { rows } = await client.query<{ bytes: string }>(
        `select pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text as bytes`,
      )
      return Math.floor(Number(rows[0]?.bytes) / SEGMENT_BYTES)
    })
    const newest = await newestSegment(repository, options)
    if (reached >= newest) return undefined
    return `the copy ends in segment ${reached}, and the archive in segment ${newest}`
  } finally {
    await copy.remove()
  }
}

/** The number of the newest segment in the archive, without its timeline. */
async function newestSegment(repository: RestoreContext['repository'], options: string[]): Promise<number> {
  const output = await repository.backrest([...options, 'info', '--output=json'])
  const [stanza] = JSON.parse(output) as [{ archive: { max: string }[] }]
  const max = stanza.archive.at(-1)?.max ?? ''
  return Number.parseInt(max.slice(8, 16), 16) * 256 + Number.parseInt(max.slice(16), 16)
}

/** Changes bytes in the middle of the largest file of the oldest full backup. */
async function changeBytes(repository: string): Promise<void> {
  const folder = join(repository, 'backup/petstore')
  const full = (await readdir(folder)).filter((name) => name.endsWith('F')).sort()[0] ?? ''
  const file = await largestFile(join(folder, full))
  const handle = await open(file.path, 'r+')
  await handle.write(Buffer.alloc(FLIPPED_BYTES, 0xa5), 0, FLIPPED_BYTES, Math.floor(file.bytes / 2))
  await handle.close()
}

async function largestFile(folder: string): Promise<{ path: string; bytes: number }> {
  let largest = { path: '', bytes: -1 }
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name)
    const info = await stat(path)
    if (info.isFile() && info.size > largest.bytes) largest = { path, bytes: info.size }
  }
  return largest
}

/** Removes the segment in the middle of those that were archived after the newest backup. */
async function removeSegment(repository: string): Promise<void> {
  const folder = join(repository, 'archive/petstore')
  const names = (await readdir(folder, { recursive: true })).filter((path) =>
    /[0-9A-F]{24}-[0-9a-f]+/.test(path),
  )
  const sorted = names.sort((a, b) => segmentIn(a).localeCompare(segmentIn(b)))
  const backups = (await readdir(folder, { recursive: true }))
    .filter((path) => path.endsWith('.backup'))
    .sort()
  const newestBackup = segmentIn(backups.at(-1) ?? '')
  const after = sorted.filter((path) => segmentIn(path) > newestBackup)
  const removed = after[Math.floor(after.length / 3)]
  if (removed === undefined) throw new Error('The archive has no segment after the newest backup.')
  await rm(join(folder, removed))
}

function segmentIn(path: string): string {
  return /[0-9A-F]{24}/.exec(path.split('/').at(-1) ?? '')?.[0] ?? ''
}

function shortened(text: string): string {
  const lines = text.split('\n').filter((line) => /error|fatal|warn|missing|invalid/i.test(line))
  return (lines.length > 0 ? lines : text.split('\n')).slice(0, 3).join(' ').trim().slice(0, 300)
}
