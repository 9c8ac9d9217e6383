// A PostgreSQL with pgBackRest: a store whose WAL is archived, and a repository to check and to damage.
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { sql } from './database.ts'
import { prepareDatabase } from './roles.ts'

const ROOT = resolve(import.meta.dirname, '../..')

export interface Output {
  code: number | null
  output: string
}

export interface BackedUpStore {
  folder: string
  /** A folder with Petstore that the user of PostgreSQL can read. */
  petstoreFolder: string
  config: string
  databaseUrl: string
  /** The PATH of `run`. */
  path: string
  /** Runs a command as the user of PostgreSQL, which is not root. */
  run: (command: string[], environment?: Record<string, string>) => Running
  backUp: () => Promise<void>
  /** Ends the current WAL segment, and waits until it is archived. */
  archiveWal: () => Promise<void>
  /** All files of the archived WAL, or of the backups, oldest first. */
  files: (part: 'archive' | 'backup') => string[]
  stop: () => Promise<void>
}

export interface Running {
  kill: (signal: NodeJS.Signals) => void
  /** The output so far. */
  output: () => string
  finished: Promise<Output>
}

/** @param binaries Folder of PostgreSQL with psql and pg_isready, which the embedded one does not have. */
export async function openBackedUpStore(binaries: string): Promise<BackedUpStore> {
  // The path of a Unix socket is limited to 107 bytes.
  const folder = `/var/tmp/petstore-backup-${randomUUID().slice(0, 8)}`
  const config = join(folder, 'pgbackrest.conf')
  const dataFolder = join(folder, 'data')
  const port = await freePort()
  // The Node of the tests is first, for the executable of Petstore.
  const path = [folder, join(process.execPath, '..'), process.env['PATH']].join(':')
  mkdirSync(join(folder, 'check'), { recursive: true })
  writeFileSync(config, configOf(folder, dataFolder, port))
  const cluster = await startCluster({
    binaries,
    dataFolder,
    port,
    settings: {
      unix_socket_directories: '/tmp',
      fsync: 'off',
      archive_mode: 'on',
      archive_command: `pgbackrest --config=${config} --stanza=petstore archive-push %p`,
    },
  })
  // The server runs as the owner of its files: see src/data/demo/cluster.ts.
  const { uid, gid } = statSync(dataFolder)
  for (const owned of [folder, join(folder, 'check')]) chownSync(owned, uid, gid)

  function run(command: string[], environment: Record<string, string> = {}): Running {
    const [file = '', ...args] = command
    const identity = process.getuid?.() === 0 ? { uid, gid } : {}
    const env = { PATH: path, ...environment }
    const child = spawn(file, args, { ...identity, cwd: '/', env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    const finished = once(child, 'close').then(([code]) => ({ code: code as number | null, output }))
    return { kill: (signal) => child.kill(signal), output: () => output, finished }
  }
  async function backrest(...args: string[]): Promise<void> {
    const { code, output } = await run(['pgbackrest', `--config=${config}`, '--stanza=petstore', ...args])
      .finished
    expect(code, output).toBe(0)
  }

  const isReadable = (await run([join(ROOT, 'bin/petstore.ts'), '--version']).finished).code === 0
  const petstoreFolder = isReadable ? ROOT : installPetstore(folder)
  await sql(cluster.url('postgres'), 'create database petstore')
  await prepareDatabase(cluster.url('petstore'))
  await backrest('stanza-create')
  return {
    folder,
    petstoreFolder,
    config,
    databaseUrl: cluster.url('petstore'),
    path,
    run,
    backUp: () => backrest('backup', '--type=full'),
    archiveWal: async () => {
      const [row] = await sql(cluster.url('postgres'), 'select pg_walfile_name(pg_switch_wal()) as segment')
      const isArchived = () => archived(cluster.url('postgres'))
      await expect.poll(isArchived).toBe(row?.['segment'])
    },
    files: (part) =>
      readdirSync(join(folder, 'repo', part), { recursive: true, encoding: 'utf8' })
        .map((name) => join(folder, 'repo', part, name))
        .filter((file) => statSync(file).isFile())
        .toSorted(),
    stop: async () => {
      await cluster.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function archived(url: string): Promise<unknown> {
  const [row] = await sql(url, 'select last_archived_wal as segment from pg_stat_archiver')
  return row?.['segment']
}

/** The checkout may be in a folder that only root can read, such as /root. */
function installPetstore(folder: string): string {
  const target = join(folder, 'petstore')
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0')
  for (const path of tracked.filter((name) => name !== '')) cpSync(join(ROOT, path), join(target, path))
  execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline'], { cwd: target })
  cpSync(process.execPath, join(folder, 'node'))
  return target
}

function configOf(folder: string, dataFolder: string, port: number): string {
  return `[global]
repo1-path=${folder}/repo
repo1-retention-full=2
repo1-bundle=y
log-level-file=off
lock-path=${folder}/lock
start-fast=y
archive-timeout=30
[petstore]
pg1-path=${dataFolder}
pg1-port=${port}
pg1-socket-path=/tmp
`
}
