// Damages the backups of a store on one server in each way that an operator must learn of. `petstore doctor` must name the
// fault and its remedy, and the alert must fire in the Prometheus of the server.
import { closeSync, globSync, openSync, readSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { type AlertName, alertOf } from '../../src/telemetry/alerts.ts'
import { waitUntil } from '../parts/wait-until.ts'
import { ADMIN, type Store } from './checks.ts'
import type { Machine } from './machine.ts'
import { askOnce } from './psql-session.ts'

/** Time to scrape and to evaluate the condition, in addition to the pending time of the alert. */
const NOTICED_WITHIN_MS = 180_000
const POLL_MS = 1_000
const DAMAGED_BYTES = 64
/** Free space of the second place before it is full. A segment of WAL without changes is compressed to less. */
const SPARE_MEGABYTES = 64
const AHEAD_DAYS = 7

export interface BackupFaultsOptions {
  machine: Machine
  store: Store
  say: (text: string) => void
}

interface BackupFault {
  description: string
  alert: AlertName
  /** The name of the check of `petstore doctor`. */
  check: string
  message: RegExp
  remedy: RegExp
  /** Returns what ends the fault. */
  plant: (options: BackupFaultsOptions) => Promise<() => Promise<unknown>>
}

export interface BackupFaultRow {
  fault: string
  doctor: string
  alert: AlertName
  /** From the fault until the alert fires. */
  firesAfterSeconds: number
}

const DAMAGED = {
  alert: 'PetstoreRestoreNotProven',
  check: 'restores',
  remedy: /journalctl --unit petstore-restore-check/,
} as const

const FAULTS = {
  'damaged-first': {
    ...DAMAGED,
    description: `${DAMAGED_BYTES} bytes of a backup on the server change`,
    message: /newest check failed: repository 1: pgbackrest verify reports errors/,
    plant: ({ machine }) => damage(machine, join(machine.root, 'var/lib/pgbackrest')),
  },
  'damaged-second': {
    ...DAMAGED,
    description: `${DAMAGED_BYTES} bytes of a backup in the second place change`,
    message: /newest check failed: repository 2: pgbackrest verify reports errors/,
    plant: ({ machine }) => damage(machine, join(machine.secondPlace, 'pgbackrest')),
  },
  'disk-full': {
    description: 'the second place is full',
    alert: 'PetstoreArchivingFails',
    check: 'archiving',
    message: /cannot archive WAL/,
    remedy: /free space there; never delete files in pg_wal/,
    plant: fillSecondPlace,
  },
  'no-backups': {
    ...DAMAGED,
    description: `no backup was made for ${AHEAD_DAYS} days`,
    message:
      /newest check failed: repository 1: the newest backup, \S+, is 16[89] hours old.*systemctl start petstore-backup@full/,
    plant: stopBackups,
  },
  'no-checks': {
    ...DAMAGED,
    description: 'the backups were not checked for 3 days',
    message: /last restored and verified 3 days ago/,
    remedy: /systemctl list-timers petstore-restore-check/,
    plant: stopChecks,
  },
} satisfies Record<string, BackupFault>

type FaultName = keyof typeof FAULTS

/** Each group runs at the same time, because its alerts differ. */
const GROUPS: FaultName[][] = [
  ['damaged-second'],
  ['damaged-first', 'disk-full'],
  ['no-backups'],
  ['no-checks'],
]

/** Throws an error if a fault is not reported, or is still reported after its end. */
export async function runBackupFaults(
  options: BackupFaultsOptions,
  groups: FaultName[][] = GROUPS,
): Promise<BackupFaultRow[]> {
  const rows: BackupFaultRow[] = []
  for (const group of groups) {
    const planted: { name: FaultName; since: number; end: () => Promise<unknown> }[] = []
    for (const name of group) {
      const since = performance.now()
      planted.push({ name, since, end: await FAULTS[name].plant(options) })
    }
    rows.push(...(await Promise.all(planted.map(({ name, since }) => observe(options, name, since)))))
    for (const { end } of planted) await end()
    await Promise.all(group.map((name) => checkEnd(options, name)))
  }
  options.say(toTable(rows))
  return rows
}

async function observe({ machine, say }: BackupFaultsOptions, name: FaultName, since: number) {
  const fault: BackupFault = FAULTS[name]
  const found = await findingOf(machine, fault.check)
  if (found.state === 'ok' || !fault.message.test(found.message) || !fault.remedy.test(found.remedy ?? ''))
    throw new Error(`${name}: petstore doctor reports: ${JSON.stringify(found)}`)
  say(`${name}: petstore doctor: ${found.state}: ${found.message} ${found.remedy}`)
  const pendingMs = (alertOf(fault.alert).forSeconds ?? 0) * 1000
  await waitUntil(
    `${name}: the alert ${fault.alert}`,
    pendingMs + NOTICED_WITHIN_MS,
    () => isFiring(machine, fault.alert),
    POLL_MS,
  )
  const firesAfterSeconds = (performance.now() - since) / 1000
  say(`${name}: ${fault.alert} fires after ${firesAfterSeconds.toFixed(0)} s`)
  return { fault: fault.description, doctor: found.message, alert: fault.alert, firesAfterSeconds }
}

async function checkEnd({ machine }: BackupFaultsOptions, name: FaultName): Promise<void> {
  const { alert, check } = FAULTS[name]
  await waitUntil(
    `${name}: the end of the alert ${alert}`,
    NOTICED_WITHIN_MS,
    async () => !(await isFiring(machine, alert)),
    POLL_MS,
  )
  const found = await findingOf(machine, check)
  if (found.state !== 'ok') throw new Error(`${name}: after its end: ${JSON.stringify(found)}`)
}

async function findingOf(machine: Machine, check: string): Promise<Finding> {
  // It fails if it finds a fault.
  const { stdout } = await machine.run([ADMIN, 'doctor', '--json'])
  const found = (JSON.parse(stdout) as Finding[]).find((finding) => finding.check === check)
  if (found === undefined) throw new Error(`petstore doctor has no check "${check}": ${stdout}`)
  return found
}

async function isFiring(machine: Machine, alert: AlertName): Promise<boolean> {
  const text = await machine.runChecked([
    'curl',
    '-sS',
    '--max-time',
    '15',
    'http://127.0.0.1:9090/api/v1/alerts',
  ])
  const { data } = JSON.parse(text) as {
    data: { alerts: { state: string; labels: { alertname: string } }[] }
  }
  return data.alerts.some(({ state, labels }) => state === 'firing' && labels.alertname === alert)
}

const systemctl = (machine: Machine, ...args: string[]) => machine.run(['systemctl', ...args])

/** Runs the daily check now. It fails if it finds a fault. */
async function checkBackups(machine: Machine, isGood: boolean): Promise<void> {
  const { exitCode } = await systemctl(machine, 'start', 'petstore-restore-check')
  if ((exitCode === 0) === isGood) return
  const { stdout } = await machine.run([
    'journalctl',
    '--unit=petstore-restore-check',
    '--lines=30',
    '--no-pager',
  ])
  throw new Error(`the check of the backups ${isGood ? 'failed' : 'found nothing'}:\n${stdout}`)
}

/** Changes bytes in the middle of the largest file of the newest backup. */
async function damage(machine: Machine, repository: string): Promise<() => Promise<unknown>> {
  const files = globSync(`${repository}/backup/petstore/*F/**/bundle/*`)
  const largest = files.toSorted((a, b) => statSync(b).size - statSync(a).size)[0]
  if (largest === undefined) throw new Error(`${repository} has no backup`)
  const middle = Math.floor(statSync(largest).size / 2)
  const bytes = Buffer.alloc(DAMAGED_BYTES)
  const file = openSync(largest, 'r+')
  readSync(file, bytes, 0, bytes.length, middle)
  writeSync(
    file,
    bytes.map((byte) => byte ^ 0xff),
    0,
    bytes.length,
    middle,
  )
  closeSync(file)
  await checkBackups(machine, false)
  return async () => {
    const healed = openSync(largest, 'r+')
    writeSync(healed, bytes, 0, bytes.length, middle)
    closeSync(healed)
    await checkBackups(machine, true)
  }
}

/** The second place becomes a disk of its own, with a copy of its files, and is filled to its last byte. */
async function fillSecondPlace({ machine, store }: BackupFaultsOptions): Promise<() => Promise<unknown>> {
  await machine.runChecked([
    'sh',
    '-ec',
    `size=$(($(du -sm /mnt/backup | cut -f1) + ${SPARE_MEGABYTES}))
    mkdir -p /run/disk && mount -t tmpfs -o "size=\${size}m" tmpfs /run/disk
    cp -a /mnt/backup/. /run/disk && mount --move /run/disk /mnt/backup
    dd if=/dev/zero of=/mnt/backup/other-files bs=64k 2> /dev/null || true
    df --output=avail /mnt/backup | tail -n 1 | grep -qx ' *0'`,
  ])
  await store.addPet('while the second place is full')
  await askOnce(machine, 'select pg_switch_wal()')
  await waitForArchiver(machine, "last_failed_time > coalesce(last_archived_time, '-infinity')")
  return async () => {
    await machine.runChecked(['rm', '/mnt/backup/other-files'])
    // PostgreSQL retries every minute.
    await waitForArchiver(machine, 'last_archived_time > last_failed_time')
  }
}

async function waitForArchiver(machine: Machine, condition: string): Promise<void> {
  const isTrue = async () =>
    (await askOnce(machine, `select ${condition} from pg_stat_archiver`)).text === 't'
  await waitUntil(condition, NOTICED_WITHIN_MS, isTrue, POLL_MS)
}

const TIMERS = ['petstore-backup@full.timer', 'petstore-backup@incr.timer']

/**
 * Only the check gets another clock: its `date +%s`, from which it subtracts the end of the newest backup, is seven days
 * ahead. The backups, and the clocks of PostgreSQL and of Prometheus, stay as they are.
 */
async function stopBackups({ machine }: BackupFaultsOptions): Promise<() => Promise<unknown>> {
  await systemctl(machine, 'stop', ...TIMERS)
  const folder = '/usr/local/lib/petstore-drill'
  const unit = '/run/systemd/system/petstore-restore-check.service.d'
  await machine.runChecked(['mkdir', '-p', folder, unit])
  const clock = `#!/bin/sh\n[ "$*" != +%s ] || exec /usr/bin/date --date='${AHEAD_DAYS} days' +%s\nexec /usr/bin/date "$@"\n`
  writeFileSync(join(machine.root, folder, 'date'), clock, { mode: 0o755 })
  const path = `[Service]\nEnvironment=PATH=${folder}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n`
  await machine.runChecked(['tee', `${unit}/drill.conf`], { input: path })
  await systemctl(machine, 'daemon-reload')
  await checkBackups(machine, false)
  return async () => {
    await machine.runChecked(['rm', `${unit}/drill.conf`])
    await systemctl(machine, 'daemon-reload')
    await systemctl(machine, 'start', ...TIMERS)
    await checkBackups(machine, true)
  }
}

/** The results become three days older, as if the timer had not started the check since. */
async function stopChecks({ machine }: BackupFaultsOptions): Promise<() => Promise<unknown>> {
  await systemctl(machine, 'stop', 'petstore-restore-check.timer')
  const age = "update restore_checks set checked_at = checked_at - interval '3 days'"
  await askOnce(machine, `with aged as (${age} returning 1) select count(*) from aged`)
  return async () => {
    await systemctl(machine, 'start', 'petstore-restore-check.timer')
    await checkBackups(machine, true)
  }
}

function toTable(rows: readonly BackupFaultRow[]): string {
  const lines = rows.map(
    ({ fault, alert, firesAfterSeconds }) => `| ${fault} | ${alert} | ${firesAfterSeconds.toFixed(0)} |`,
  )
  return ['| Fault | Alert | Fires after (s) |', '|---|---|---|', ...lines].join('\n')
}
