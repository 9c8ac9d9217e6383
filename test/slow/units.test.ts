// systemd's own tools check the systemd units.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
/** On systemd's scale from 0 (most secure) to 10 (not protected at all). */
const EXPOSURE_MAX = 1.5
const folder = mkdtempSync(join(tmpdir(), 'petstore-units-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const UNITS = [
  'petstore@.service',
  'petstore-migrate.service',
  'petstore-deliver.service',
  'backup/petstore-restore-check.service',
]
const BACKUP_UNIT = 'backup/petstore-backup@.service'
const TIMERS = [
  'backup/petstore-restore-check.timer',
  'backup/petstore-backup@full.timer',
  'backup/petstore-backup@incr.timer',
]
/** systemd-analyze requires that the executable exists, so use the one in this repository. */
const readUnit = (path: string) =>
  readFileSync(join(ROOT, 'deploy', path), 'utf8').replaceAll('/opt/petstore', ROOT)
for (const path of [...UNITS, BACKUP_UNIT, ...TIMERS])
  writeFileSync(join(folder, basename(path)), readUnit(path))
// The timers start these instances.
for (const kind of ['full', 'incr'])
  writeFileSync(join(folder, `petstore-backup@${kind}.service`), readUnit(BACKUP_UNIT))

test('systemd-analyze verify accepts every unit', () => {
  const names = [...UNITS, ...TIMERS, 'petstore-backup@full.service'].map((path) => basename(path))
  const instances = names.map((name) => join(folder, name.replace('@.', '@1.')))
  writeFileSync(join(folder, 'petstore@1.service'), readFileSync(join(folder, 'petstore@.service')))
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...instances], {
    encoding: 'utf8',
  })
  const ours = (stdout + stderr).split('\n').filter((line) => line.includes('petstore'))
  expect(ours).toEqual([])
  expect(status, stderr).toBe(0)
})

test('systemd-analyze verify accepts the changes for one server', () => {
  const one = mkdtempSync(join(folder, 'one-server-'))
  const changed = {
    backup: 'petstore-backup@full.service',
    'restore-check': 'petstore-restore-check.service',
  }
  const units = Object.entries(changed).map(([dropIn, name]) => {
    const unit = join(one, name)
    writeFileSync(unit, readFileSync(join(folder, name)))
    const text = readUnit(`backup/one-server/${dropIn}.conf`)
    expect(text).toContain(`/etc/systemd/system/${name.replace('full', '')}.d/one-server.conf`)
    mkdirSync(`${unit}.d`)
    writeFileSync(join(`${unit}.d`, 'one-server.conf'), text)
    return unit
  })
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
    encoding: 'utf8',
  })
  expect((stdout + stderr).split('\n').filter((line) => line.includes('one-server'))).toEqual([])
  expect(status, stderr).toBe(0)
})

test('systemd-analyze verify accepts the changes to the units of Debian', () => {
  const dropIns = join(ROOT, 'deploy/ha/systemd')
  const names = readdirSync(dropIns).map((file) => file.replace('.conf', ''))
  expect(names).toEqual(['etcd', 'patroni'])
  const units = names.map((name) => {
    const unit = join(folder, `${name}.service`)
    // The packages are not installed here, so use another executable.
    const dropIn = readFileSync(join(dropIns, `${name}.conf`), 'utf8')
    expect(dropIn).toContain(`/etc/systemd/system/${name}.service.d/petstore.conf`)
    writeFileSync(unit, '[Service]\nExecStart=/bin/true\nRestart=on-failure\n')
    mkdirSync(`${unit}.d`)
    writeFileSync(
      join(`${unit}.d`, 'petstore.conf'),
      dropIn.replaceAll(/^(ExecStart\w*=\S*?)\/\S+/gm, '$1/bin/true'),
    )
    return unit
  })
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
    encoding: 'utf8',
  })
  const ours = (stdout + stderr).split('\n').filter((line) => line.includes(folder))
  expect(ours).toEqual([])
  expect(status, stderr).toBe(0)
})

test.each(UNITS)(`systemd-analyze security rates %s below ${EXPOSURE_MAX} (0 is most secure)`, (path) => {
  const name = basename(path)
  const report = execFileSync(
    'systemd-analyze',
    ['security', '--offline=true', '--no-pager', join(folder, name)],
    { encoding: 'utf8' },
  )
  const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(report) ?? []
  console.log(`${name}: ${exposure}`)
  expect(Number(exposure)).toBeLessThan(EXPOSURE_MAX)
})
