// Follows docs/production.md on a fresh Debian: runs its commands, section by section, then checks the store.
import { copyFileSync, createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildRelease } from '../../dev/release.ts'
import { checkAlerts, checkPorts, checkPowerCut, checkSettings, openStore, type Store } from './checks.ts'
import { type DebianVersion, Machine } from './machine.ts'
import { failedLineIn, type Section, sectionsOf } from './page.ts'
import type { ProductionOptions } from './production-options.ts'

const PAGE = resolve(import.meta.dirname, '../../docs/production.md')
const RESTORE = 'Restore'
/** The page restores the newest state or a moment. The first run follows the one, and the second run the other. */
const isOfMoment = (block: string) => block.includes('--type=time')
const isOfNewest = (block: string) => /pgbackrest --stanza=petstore restore$/m.test(block)
/** The only text of the page that is replaced. */
const EXAMPLE_MOMENT = '2026-11-16 11:02:27+00'
const TAIL_LINES = 40

interface Step {
  name: string
  commands: number
  seconds: number
}

interface Report {
  debian: DebianVersion
  startedAt: string
  steps: Step[]
  commands: number
  minutes: number
}

type Say = (text: string) => void

/** Returns whether every command and every check succeeded. */
export async function runProductionDrill(options: ProductionOptions, say: Say): Promise<boolean> {
  if (process.getuid?.() !== 0) throw new Error('Run the drill as root: it creates namespaces.')
  const reports: Report[] = []
  let isClean = true
  for (const debian of options.versions) {
    const startedAt = new Date()
    const name = `${startedAt.toISOString().replaceAll(/[:.]/g, '-')}-production-${debian}`
    const logFolder = join(options.folder, 'runs', name)
    mkdirSync(logFolder, { recursive: true })
    say(`Files of this run: ${logFolder}`)
    const steps: Step[] = []
    try {
      await followPage({ ...options, debian, logFolder, say, steps })
    } catch (error) {
      isClean = false
      say(`violation on Debian ${debian}: ${error instanceof Error ? error.message : error}`)
    }
    const commands = steps.reduce((sum, step) => sum + step.commands, 0)
    const minutes = Math.round((Date.now() - startedAt.getTime()) / 6_000) / 10
    reports.push({ debian, startedAt: startedAt.toISOString(), steps, commands, minutes })
    say(
      `Debian ${debian}: ${commands} commands in ${minutes} min, ${isClean ? 'no violation' : 'a violation'}`,
    )
  }
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(reports, null, 2)}\n`)
  return isClean
}

interface RunOptions extends ProductionOptions {
  debian: DebianVersion
  logFolder: string
  say: Say
  steps: Step[]
}

async function followPage(options: RunOptions): Promise<void> {
  const { logFolder, say, steps } = options
  const release = options.release ?? (await buildHere(logFolder, say))
  const machine = await Machine.create(options)
  const log = createWriteStream(join(logFolder, 'output.log'))
  const page = readFileSync(PAGE, 'utf8')
  const step = async (name: string, commands: number, work: () => Promise<unknown>) => {
    const startedAt = performance.now()
    await work()
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10
    steps.push({ name, commands, seconds })
    say(`${name}: ${commands > 0 ? `${commands} commands, ` : ''}${seconds} s`)
  }
  const follow = (section: Section) =>
    step(section.heading, section.commandLines.length, () => runSection(machine, section, log))
  try {
    await step('boot', 0, () => machine.start())
    for (const name of readdirSync(release))
      copyFileSync(join(release, name), join(machine.root, 'root', name))
    for (const section of sectionsOf(page, (block) => !isOfMoment(block))) await follow(section)
    await step('check the ports and the settings', 0, async () => {
      await checkPorts(machine)
      await checkSettings(machine)
    })
    await step('check the alerts', 0, () => checkAlerts(machine))
    const store = await openStore(machine)
    await step('cut the power and boot', 0, () => checkPowerCut(machine, store))
    await restoreMoment(store, page, follow)
    await step('check the alerts again', 0, () => checkAlerts(machine))
  } finally {
    log.end()
    await machine.remove()
  }
}

async function buildHere(logFolder: string, say: Say): Promise<string> {
  say('building the package')
  const folder = join(logFolder, 'release')
  await buildRelease(folder)
  return folder
}

async function runSection(machine: Machine, section: Section, log: NodeJS.WritableStream): Promise<void> {
  let output = ''
  const code = await machine.runScript(section.script, (text) => {
    output += text
    log.write(text)
  })
  if (code === 0) return
  const tail = output.split('\n').slice(-TAIL_LINES).join('\n')
  throw new Error(
    `docs/production.md, "${section.heading}": exit code ${code} at line ${failedLineIn(output)}\n${tail}`,
  )
}

/** A pet before the moment must be there after the restore, and one after the moment must not. */
async function restoreMoment(
  store: Store,
  page: string,
  follow: (section: Section) => Promise<void>,
): Promise<void> {
  const before = await store.addPet('before the moment')
  const moment = await store.now()
  const after = await store.addPet('after the moment')
  const withMoment = page.replace(EXAMPLE_MOMENT, moment)
  if (withMoment === page) throw new Error(`docs/production.md has no example "${EXAMPLE_MOMENT}"`)
  const section = sectionsOf(withMoment, (block) => !isOfNewest(block)).find(
    ({ heading }) => heading === RESTORE,
  )
  if (section === undefined) throw new Error(`docs/production.md has no section "${RESTORE}"`)
  await follow(section)
  if (!(await store.hasPet(before))) throw new Error(`the pet before the moment ${moment} is lost`)
  if (await store.hasPet(after)) throw new Error(`the pet after the moment ${moment} is still there`)
}
