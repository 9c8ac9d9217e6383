// The files of deploy/backup: the script that closes gaps of the archive, the certificates, who can connect to a copy, and
// names that must match.
import { spawnSync } from 'node:child_process'
import { randomUUID, X509Certificate } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { Client } from 'pg'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { sql } from '../support/database.ts'
import { until } from '../support/until.ts'

const BACKUP = resolve(import.meta.dirname, '../../deploy/backup')
const read = (name: string) => readFileSync(join(BACKUP, name), 'utf8')

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-backup-'))
  folders.push(folder)
  return folder
}

function run(script: string, ...args: string[]) {
  return spawnSync('sh', [join(BACKUP, script), ...args], { encoding: 'utf8' })
}

describe('archive-after-failover', () => {
  const segment = (timeline: number, number: number) =>
    [timeline, 0, number].map((part) => part.toString(16).toUpperCase().padStart(8, '0')).join('')

  /** A program instead of pg_controldata: the promotion ends, and timeline 3 begins, after the first call. */
  function writePrograms(data: string, position: string): void {
    const text = `1\\t0/5000000\\treason\\n\\n2\\t${position}\\treason\\n`
    const program = `#!/bin/sh
if [ -e "$1/called" ]; then printf '${text}' > "$1/pg_wal/00000003.history"; state='in production'; else state='in archive recovery'; fi
: > "$1/called"
echo "Database cluster state:               $state"
`
    writeFileSync(join(data, 'pg_controldata'), program, { mode: 0o755 })
    writeFileSync(join(data, 'postmaster.opts'), `${data}/postgres "-D" "${data}"\n`)
  }

  /** The pg_wal of a node that was promoted to timeline 3 at this position. Returns the files that it then archives. */
  function archivedAfter(position: string, role: string, files: string[], done: string[]): string[] {
    const data = newFolder()
    const wal = join(data, 'pg_wal')
    mkdirSync(join(wal, 'archive_status'), { recursive: true })
    for (const name of files) writeFileSync(join(wal, name), '')
    for (const name of done) writeFileSync(join(wal, 'archive_status', `${name}.done`), '')
    writePrograms(data, position)
    const { status, stderr } = run('archive-after-failover', data, 'on_role_change', role, 'petstore')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const names = readdirSync(join(wal, 'archive_status'))
    return names
      .filter((name) => name.endsWith('.ready'))
      .map((name) => name.replace('.ready', ''))
      .sort()
  }

  const files = [
    '00000002.history',
    segment(1, 4),
    ...[5, 6, 7].map((number) => segment(2, number)),
    `${segment(2, 7)}.partial`,
    segment(3, 7),
  ]

  test('archives the segments of the old timeline before the new one begins, and its history', () => {
    const archived = archivedAfter('0/7000428', 'primary', files, [
      '00000002.history',
      segment(1, 4),
      segment(2, 5),
    ])
    expect(archived).toEqual(['00000002.history', segment(2, 5), segment(2, 6)])
  })

  test('archives the last segment if the new timeline begins at its end', () => {
    const archived = archivedAfter('0/7000000', 'primary', files, [segment(2, 5)])
    expect(archived).toEqual(['00000002.history', segment(2, 5), segment(2, 6)])
  })

  test('changes nothing on a standby, and on a primary that never failed over', () => {
    expect(archivedAfter('0/7000428', 'replica', files, [segment(2, 5)])).toEqual([])
    const data = newFolder()
    mkdirSync(join(data, 'pg_wal/archive_status'), { recursive: true })
    writeFileSync(join(data, 'pg_controldata'), "#!/bin/sh\necho 'state: in production'\n", { mode: 0o755 })
    writeFileSync(join(data, 'postmaster.opts'), `${data}/postgres\n`)
    expect(run('archive-after-failover', data, 'on_role_change', 'primary', 'petstore').status).toBe(0)
  })
})

describe('make-certificates', () => {
  const folder = join(newFolder(), 'certificates')
  const made = run('make-certificates', folder, 'pg1', 'backup')
  const certificateOf = (name: string) => new X509Certificate(readFileSync(join(folder, `${name}.pem`)))

  test('signs a certificate for each host, with a private key', () => {
    expect(made).toMatchObject({ status: 0, stderr: '' })
    for (const host of ['pg1', 'backup']) {
      expect(certificateOf(host).verify(certificateOf('ca').publicKey)).toBe(true)
      expect(certificateOf(host)).toMatchObject({ subject: `CN=${host}`, ca: false })
      expect(certificateOf(host).checkHost(host)).toBe(host)
      expect((statSync(join(folder, `${host}.key`)).mode & 0o777).toString(8)).toBe('600')
    }
  })

  test('uses an existing CA again, and rejects a call without hosts', () => {
    const before = certificateOf('ca').fingerprint256
    expect(run('make-certificates', folder, 'pg2').status).toBe(0)
    expect(certificateOf('ca').fingerprint256).toBe(before)
    expect(run('make-certificates', folder)).toMatchObject({ status: 2 })
  })
})

describe('on one server', () => {
  /** Runs the commands of a unit as systemd does, which stops at the first one that fails. `program` replaces the real one. */
  function runUnit(path: string, program: string) {
    const folder = newFolder()
    const pauses = join(folder, 'pauses')
    writeFileSync(join(folder, 'sleep'), `#!/bin/sh\necho "$1" >> ${pauses}\n`, { mode: 0o755 })
    writeFileSync(pauses, '')
    const calls = join(folder, 'calls')
    writeFileSync(calls, '')
    const real = join(folder, 'program')
    writeFileSync(real, `#!/bin/sh\necho "$*" >> ${calls}\n${program}\n`, { mode: 0o755 })
    // The commands of the unit for a cluster, and those of the file for one server, which can begin with a reset.
    const unit = path === 'backup' ? 'petstore-backup@.service' : 'petstore-restore-check.service'
    const lines = `${read(unit)}\n${read(`one-server/${path}.conf`)}`.matchAll(/^ExecStart=(.*)$/gm)
    const all = [...lines].map(([, command = '']) => command)
    const commands = all.slice(all.lastIndexOf('') + 1).map((command) =>
      command
        .replaceAll('%i', 'full')
        .replace(/\/usr\/bin\/pgbackrest|\/opt\/petstore\/deploy\/backup\/check-restore/, real)
        .replace('/opt/petstore/deploy/backup', BACKUP),
    )
    const { status, stdout } = spawnSync('sh', ['-ec', commands.join('\n')], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
    })
    const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').filter(Boolean)
    const places = linesOf(calls).map((call) => Number(/--repo[= ](\d)/.exec(call)?.[1]))
    return { failed: status !== 0, output: stdout, places, calls: linesOf(calls), pauses: linesOf(pauses) }
  }
  const failsIn = (place: number, code: number) => `case "$*" in *--repo?${place}*) exit ${code} ;; esac`

  test('a backup is made in both places', () => {
    const made = runUnit('backup', '')
    expect(made).toMatchObject({ failed: false, places: [1, 2], pauses: [] })
    expect(made.calls).toEqual([1, 2].map((place) => `--stanza=petstore --repo=${place} --type=full backup`))
    expect(made.output).toBe('place 1: done\nplace 2: done\n')
  })

  test('a backup that fails in the first place is made in the second one, and only the failed one is retried', () => {
    expect(runUnit('backup', failsIn(1, 32))).toMatchObject({
      failed: true,
      places: [1, 2, 1, 1],
      pauses: ['300', '300'],
      output: 'place 1: failed with exit code 32\nplace 2: done\n',
    })
    expect(runUnit('backup', failsIn(2, 82))).toMatchObject({ failed: true, places: [1, 2, 2, 2] })
    const passesOnSecondAttempt = `[ "$(grep -c repo=1 "$(dirname "$0")/calls")" != 1 ] || exit 82`
    expect(runUnit('backup', `case "$*" in *repo=1*) ${passesOnSecondAttempt} ;; esac`)).toMatchObject({
      failed: false,
      places: [1, 2, 1],
      output: 'place 1: done\nplace 2: done\n',
    })
  })

  test('the check of the second place runs although that of the first one failed, and the unit fails', () => {
    expect(runUnit('restore-check', failsIn(1, 1))).toMatchObject({
      failed: true,
      places: [1, 2],
      output: 'place 1: failed with exit code 1\nplace 2: done\n',
    })
    expect(runUnit('restore-check', failsIn(2, 1))).toMatchObject({ failed: true, places: [1, 2] })
    expect(runUnit('restore-check', '')).toMatchObject({ failed: false, places: [1, 2], pauses: [] })
  })

  test('a check that is stopped in the first place does not begin in the second one', () => {
    expect(runUnit('restore-check', 'kill -TERM $PPID')).toMatchObject({
      failed: true,
      places: [1],
      output: 'place 1: done\nplace 2: not tried\n',
    })
  })
})

test('the repository host lets exactly the nodes connect that it backs up', () => {
  const conf = read('pgbackrest.conf')
  const allowed = [...conf.matchAll(/^tls-server-auth=(\w+)=petstore$/gm)].map(([, name]) => name)
  const hosts = [...conf.matchAll(/^pg\d-host=(\w+)$/gm)].map(([, name]) => name)
  expect(allowed).toEqual(hosts)
  expect(allowed).toEqual(['pg1', 'pg2', 'pg3'])
  expect(read('pgbackrest-node.conf')).toContain('tls-server-auth=backup=petstore\n')
  expect(read('pgbackrest-node.conf')).toContain('repo1-host=backup\n')
})

test('no node drops WAL, and no standby waits for the repository host', () => {
  expect(read('pgbackrest-node.conf')).not.toMatch(/^archive-push-queue-max/m)
  expect(read('archiving.yml')).not.toMatch(/^\s*restore_command:/m)
})

test('all files use the data folder of deploy/ha', () => {
  const [, folder = ''] =
    /^POSTGRES_DATA=(.*)$/m.exec(readFileSync(join(BACKUP, '../ha/cluster.env.example'), 'utf8')) ?? []
  const paths = ['pgbackrest.conf', 'pgbackrest-node.conf'].flatMap((name) =>
    [...read(name).matchAll(/^pg\d-path=(.*)$/gm)].map(([, path]) => path),
  )
  expect(new Set(paths)).toEqual(new Set([folder]))
  expect(read('archiving.yml')).toContain(`archive-after-failover ${folder}\n`)
})

test('nobody connects to a copy without a password, except the owner of its files through the socket', async () => {
  const dataFolder = `/var/tmp/petstore-test-${randomUUID()}`
  const cluster = await startCluster({
    binaries: process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
    dataFolder,
    port: await freePort(),
    settings: { unix_socket_directories: dataFolder },
  })
  onTestFinished(async () => {
    await cluster.stop()
    rmSync(dataFolder, { recursive: true, force: true })
  })
  const server = cluster.url('postgres')
  await sql(server, 'create database petstore')
  await sql(server, 'create role petstore_verify login; create role petstore_app login')
  const messageFor = (role: string, parameters = '') => {
    const client = new Client(`postgres://${role}@127.0.0.1:${cluster.port}/petstore${parameters}`)
    return client.connect().then(
      () => client.end().then(() => 'connected'),
      (error: Error) => error.message,
    )
  }
  const socket = `?host=${dataFolder}`
  expect(await messageFor('petstore_verify')).toBe('connected')
  expect(await messageFor('postgres', socket)).toBe('connected')

  writeFileSync(join(dataFolder, 'pg_hba.conf'), read('aside_hba.conf'))
  await sql(server, 'select pg_reload_conf()')
  await until(async () => (await messageFor('postgres')) !== 'connected')
  expect(await messageFor('petstore_verify')).toContain('no pg_hba.conf entry')
  expect(await messageFor('petstore_verify', socket)).toContain('no pg_hba.conf entry')
  expect(await messageFor('petstore_app')).toContain('password')
  if (userInfo().username !== 'postgres') {
    expect(await messageFor('postgres', socket)).toContain('Peer authentication failed')
  }
})
