// docs/production.md as `npm run drill -- production` runs it, and the parts of this drill that need no server.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COPIED } from '../../dev/server-package.ts'
import { UsageError } from '../../lab/failover/options.ts'
import { publicPorts } from '../../lab/one-server/checks.ts'
import { failedLineIn, partForOneServer, sectionsOf } from '../../lab/one-server/page.ts'
import { readProductionOptions } from '../../lab/one-server/production-options.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/production.md'), 'utf8')
const upgrading = readFileSync(join(ROOT, 'docs/upgrading.md'), 'utf8')
const INSTALLED = '/opt/petstore'

describe('docs/production.md', () => {
  const sections = sectionsOf(partForOneServer(page))

  test('has more than 100 commands, from the installation of Node to a first look', () => {
    expect(sections.map(({ heading }) => heading)).toEqual([
      '1. Install Node',
      '2. Install Petstore',
      '3. Create the database',
      '4. Start the service',
      '5. Add HTTPS',
      '6. Back up',
      '7. Monitor',
      'Upgrade',
      'Restore',
      'Restore on a new server',
      'If something is wrong',
    ])
    expect(sections.flatMap(({ commandLines }) => commandLines).length).toBeGreaterThan(100)
  })

  test.each(sectionsOf(page))('bash accepts the commands of "$heading"', ({ script }) => {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  test.each(sections)('"$heading" uses no variable of another section', ({ script }) => {
    const set = new Set(
      [...script.matchAll(/\b(\w+)=|\bfor (\w+) in/g)].map(([, name, loop]) => name ?? loop),
    )
    const used = [...script.replaceAll(/'[^']*'/g, '').matchAll(/\$\{?([A-Za-z]\w*)/g)].map(
      ([, name]) => name,
    )
    expect(used.filter((name) => !set.has(name))).toEqual([])
  })

  /** The files of the installed package that a section names, also after `cd`. */
  function installedFiles(script: string): string[] {
    let folder = ''
    return script.split('\n').flatMap((line) => {
      folder = /^cd (\S+)$/.exec(line)?.[1] ?? folder
      const words = line.split(/\s+/)
      const isInstall = words[0] === 'install' && folder.startsWith(INSTALLED)
      const sources = isInstall ? words.slice(1, -1).filter((word) => /[.@]|petstore-/.test(word)) : []
      const absolute = words.filter((word) => word.startsWith(`${INSTALLED}/`) && line !== `cd ${word}`)
      return [
        ...absolute,
        ...sources.filter((word) => !word.startsWith('/')).map((name) => join(folder, name)),
      ]
    })
  }

  test('the package contains every file that the page installs', () => {
    const files = sections
      .flatMap(({ script }) => installedFiles(script))
      .map((path) => path.slice(INSTALLED.length + 1))
    expect(files).toContain('deploy/backup/petstore-restore-check.*')
    expect(files).toContain('deploy/petstore@.service')
    expect(files.length).toBeGreaterThan(15)
    const missing = files.filter(
      (path) => globSync(path, { cwd: ROOT }).length === 0 && !existsSync(join(ROOT, path)),
    )
    expect(missing).toEqual([])
    const isPacked = (path: string) =>
      COPIED.some((copied) => path === copied || path.startsWith(`${copied}/`))
    expect(files.filter((path) => !isPacked(path))).toEqual([])
  })
})

test.each(['Debian 12 to 13 on one server'])(
  'bash accepts the commands of "%s" in docs/upgrading.md',
  (name) => {
    const section = sectionsOf(upgrading).find(({ heading }) => heading === name)
    expect(section?.commandLines.length).toBeGreaterThan(20)
    const { status, stderr } = spawnSync('bash', ['-n'], { input: section?.script ?? '', encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  },
)

describe('sectionsOf', () => {
  const text =
    'intro\n\n## One\n\n1. Do:\n\n   ```sh\n   a \\\n     b\n   for x in 1; do\n     c\n   done\n   ```\n\n```json\n{}\n```\n\n## Two\n\n```sh\nd | \n```\n'

  test('keeps the line numbers of the page, and counts a loop as one command', () => {
    const [one, ...others] = sectionsOf(text)
    expect(one).toMatchObject({ heading: 'One', commandLines: [8, 10] })
    expect(one?.script.split('\n').slice(6, 12)).toEqual(['', 'a \\', '  b', 'for x in 1; do', '  c', 'done'])
    expect(others).toMatchObject([{ heading: 'Two', commandLines: [22] }])
  })

  test('leaves out blocks that do not run', () => {
    const sections = sectionsOf(text, (block) => !block.startsWith('a'))
    expect(sections.map(({ heading }) => heading)).toEqual(['Two'])
  })

  test('a script ends at the first command that fails, also inside of a pipe, and names its line', () => {
    const [section] = sectionsOf('## A\n\n```sh\ntrue\nfalse | cat\necho reached\n```\n')
    const { status, stdout } = spawnSync('bash', ['-c', section?.script ?? ''], { encoding: 'utf8' })
    expect(status).not.toBe(0)
    expect(stdout).not.toContain('reached')
    expect(failedLineIn(stdout)).toBe(5)
  })
})

test('finds the ports that other hosts can reach', () => {
  const line = (address: string, port: string, state: string) =>
    `   0: ${address}:${port} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 1\n`
  const table = [
    line('0100007F', '1538', '0A'),
    line('00000000', '01BB', '0A'),
    line('00000000000000000000000001000000', '2384', '0A'),
    line('00000000000000000000000000000000', '2382', '0A'),
    line('00000000', '9999', '01'),
  ]
  expect(publicPorts(table.join(''))).toEqual([443, 9090])
})

test('reads the options of the drill, and rejects others', () => {
  const line = '--debian 12 --upgrade --pets 20 --release /srv/r --folder /srv/f --json /srv/j'
  const others = { release: '/srv/r', folder: '/srv/f', json: '/srv/j' }
  const parts = { upgrade: true, upgradeOnly: false, pets: 20, restores: false, backupFaults: false }
  expect(readProductionOptions(line.split(' '))).toEqual({ versions: ['12'], ...parts, ...others })
  expect(readProductionOptions(['--upgrade-only'])).toMatchObject({
    versions: ['12'],
    upgrade: true,
    upgradeOnly: true,
    pets: 1000,
  })
  expect(readProductionOptions(['--restores', '--backup-faults'])).toMatchObject({
    restores: true,
    backupFaults: true,
  })
  expect(readProductionOptions([])).toMatchObject({
    versions: ['12', '13'],
    upgrade: false,
    release: undefined,
  })
  expect(readProductionOptions(['--help'])).toBe('help')
  for (const wrong of [
    ['--debian', '11'],
    ['--debian', '13', '--upgrade'],
    ['--debian', '13', '--upgrade-only'],
    ['--pets', '0'],
    ['--restores', '--upgrade'],
    ['isolate'],
    ['--seed', '1'],
  ])
    expect(() => readProductionOptions(wrong)).toThrow(UsageError)
})
