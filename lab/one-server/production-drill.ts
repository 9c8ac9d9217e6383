// Follows docs/production.md on a fresh Debian: runs its commands, section by section, then checks the store.
import { copyFileSync, createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildRelease } from '../../dev/release.ts'
import { type BackupFaultRow, runBackupFaults } from './backup-faults.ts'
import {
  checkAlerts,
  checkPorts,
  checkPowerCut,
  checkSettings,
  openStore,
  type Store,
  waitForArchive,
} from './checks.ts'
import { type DebianVersion, Machine } from './machine.ts'
import { failedLineIn, partForOneServer, type Section, sectionsOf } from './page.ts'
import type { ProductionOptions } from './production-options.ts'
import { type RestoreRow, runRestores } from './restores.ts'
import { type UpgradeFigures, upgradeWithPets } from './upgrade-check.ts'

const DOCS = resolve(import.meta.dirname, '../../docs')
const RESTORE = 'Restore'
const NEW_SERVER = 'Restore on a new server'
const BEFORE_USE = 'Upgrade'
const UPGRADE = 'Debian 12 to 13 on one server'
/** Sections 1 to 6, with the backups. */
const INSTALLATION = /^[1-6]\. /
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

interface Results {
  steps: Step[]
  restores?: RestoreRow[]
  backupFaults?: BackupFaultRow[]
  upgrade?: UpgradeFigures
}

interface Report extends Results {
  debian: DebianVersion
  startedAt: string
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
    const results: Results = { steps: [] }
    try {
      await followPage({ ...options, debian, logFolder, say, results })
    } catch (error) {
      isClean = false
      say(`violation on Debian ${debian}: ${error instanceof Error ? error.message : error}`)
    }
    const commands = results.steps.reduce((sum, step) => sum + step.commands, 0)
    const minutes = Math.round((Date.now() - startedAt.getTime()) / 6_000) / 10
    reports.push({ debian, startedAt: startedAt.toISOString(), ...results, commands, minutes })
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
  results: Results
}

async function followPage(options: RunOptions): Promise<void> {
  const { logFolder, say, results } = options
  const release = options.release ?? (await buildHere(logFolder, say))
  const machine = await Machine.create(options)
  const log = createWriteStream(join(logFolder, 'output.log'))
  const step: Follower['step'] = async (name, commands, work) => {
    const startedAt = performance.now()
    await work()
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10
    results.steps.push({ name, commands, seconds })
    say(`${name}: ${commands > 0 ? `${commands} commands, ` : ''}${seconds} s`)
  }
  const follow = (section: Section) =>
    step(section.heading, section.commandLines.length, () => runSection(machine, section, log))
  const copyRelease = () => {
    for (const name of readdirSync(release))
      copyFileSync(join(release, name), join(machine.root, 'root', name))
  }
  try {
    await step('boot', 0, () => machine.start())
    await runDrill(
      { machine, page: partForOneServer(readPage('production.md')), step, follow, copyRelease },
      options,
    )
  } finally {
    log.end()
    await machine.remove()
  }
}

interface Follower {
  machine: Machine
  page: string
  step: (name: string, commands: number, work: () => Promise<unknown>) => Promise<void>
  /** Runs the commands of a section. */
  follow: (section: Section) => Promise<void>
  copyRelease: () => void
}

async function runDrill(follower: Follower, options: RunOptions): Promise<void> {
  if (options.restores || options.backupFaults) return runBackupParts(follower, options)
  if (options.upgradeOnly) return installAndUpgrade(follower, options)
  const { machine, page, step, follow, copyRelease } = follower
  copyRelease()
  const sections = sectionsOf(page, (block) => !isOfMoment(block)).filter(
    ({ heading }) => heading !== NEW_SERVER,
  )
  const restoreAt = sections.findIndex(({ heading }) => heading === RESTORE)
  for (const section of sections.slice(0, restoreAt)) await follow(section)
  const store = await openStore(machine)
  const newest = await store.addPet('just before the restore')
  for (const section of sections.slice(restoreAt)) await follow(section)
  if (!(await store.hasPet(newest))) throw new Error('the restore of the newest state lost the newest pet')
  await step('check the ports and the settings', 0, async () => {
    await checkPorts(machine)
    await checkSettings(machine)
  })
  // Not later: the power cut and the next restore start the instances so often that an alert is right.
  await step('check the alerts', 0, () => checkAlerts(machine))
  await step('cut the power and boot', 0, () => checkPowerCut(machine, store))
  await restoreMoment(store, follower)
  await replaceServer(store, follower)
  if (!options.upgrade || options.debian !== '12') return
  await upgradeServer(follower, options)
  await step('cut the power and boot', 0, () => checkPowerCut(machine, store))
}

/** Follows the page as far as the backups, which the upgrade needs. */
async function installAndUpgrade(follower: Follower, options: RunOptions): Promise<void> {
  const { page, follow, copyRelease } = follower
  copyRelease()
  for (const section of sectionsOf(page).filter(({ heading }) => INSTALLATION.test(heading)))
    await follow(section)
  await upgradeServer(follower, options)
}

async function upgradeServer(follower: Follower, options: RunOptions): Promise<void> {
  const section = sectionOf(readPage('upgrading.md'), UPGRADE)
  const figures = await upgradeWithPets({ ...follower, pets: options.pets, section })
  const { commands, ...others } = figures
  for (const [name, value] of Object.entries(others)) options.say(`${name}: ${value}`)
  for (const { command, seconds } of commands.filter((time) => time.seconds >= 1))
    options.say(`${seconds} s: ${command}`)
  options.results.upgrade = figures
}

/** Follows the page until the store is installed and monitored, then restores it, or damages its backups. */
async function runBackupParts(
  { machine, page, step, follow, copyRelease }: Follower,
  options: RunOptions,
): Promise<void> {
  const { logFolder, say, results } = options
  copyRelease()
  const sections = sectionsOf(page)
  const installed = sections.findIndex(({ heading }) => heading === BEFORE_USE)
  for (const section of sections.slice(0, installed)) await follow(section)
  const store = await openStore(machine)
  const restore = (moment?: string) => follow(restoreSection(page, moment))
  if (options.restores)
    await step('restore under load', 0, async () => {
      results.restores = await runRestores({ machine, apiKey: store.apiKey, logFolder, say, restore })
    })
  if (options.backupFaults)
    await step('damage the backups', 0, async () => {
      results.backupFaults = await runBackupFaults({ machine, store, say })
    })
}

/** The commands that restore this moment, or else the newest state. */
function restoreSection(page: string, moment?: string): Section {
  if (moment === undefined) return sectionOf(page, RESTORE, (block) => !isOfMoment(block))
  const withMoment = page.replace(EXAMPLE_MOMENT, moment)
  if (withMoment === page) throw new Error(`docs/production.md has no example "${EXAMPLE_MOMENT}"`)
  return sectionOf(withMoment, RESTORE, (block) => !isOfNewest(block))
}

/** Loses the server and everything on it. The second place must have every pet of more than a minute ago. */
async function replaceServer(store: Store, follower: Follower): Promise<void> {
  const { machine, page, step, follow, copyRelease } = follower
  const pet = await store.addPet('before the loss of the server')
  await step('wait until the pet is archived', 0, () => waitForArchive(machine))
  // The copy in the secret store of the operator.
  const settings = join(machine.root, 'root/petstore-settings.tgz')
  const copy = readFileSync(settings)
  await step('replace the server', 0, () => machine.replace())
  copyRelease()
  writeFileSync(settings, copy)
  for (const heading of ['1. Install Node', '2. Install Petstore', NEW_SERVER])
    await follow(sectionOf(page, heading))
  await follow(sectionOf(page, '4. Start the service', (block) => !block.includes('api-keys create')))
  await follow(sectionOf(page, '5. Add HTTPS'))
  await follow(sectionOf(page, '6. Back up', (block) => block.includes('petstore-restore-check')))
  if (!(await store.hasPet(pet))) throw new Error('the pet before the loss of the server is lost')
}

const readPage = (name: string) => readFileSync(join(DOCS, name), 'utf8')

function sectionOf(page: string, heading: string, isRun?: (block: string) => boolean): Section {
  const section = sectionsOf(page, isRun).find((found) => found.heading === heading)
  if (section === undefined) throw new Error(`the page has no section "${heading}"`)
  return section
}

async function buildHere(logFolder: string, say: Say): Promise<string> {
  say('building the package')
  const folder = join(logFolder, 'release')
  await buildRelease(folder, false)
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
  throw new Error(`"${section.heading}": exit code ${code} at line ${failedLineIn(output)}\n${tail}`)
}

/** A pet before the moment must be there after the restore, and one after the moment must not. */
async function restoreMoment(store: Store, { page, follow }: Follower): Promise<void> {
  const before = await store.addPet('before the moment')
  const moment = await store.now()
  const after = await store.addPet('after the moment')
  await follow(restoreSection(page, moment))
  if (!(await store.hasPet(before))) throw new Error(`the pet before the moment ${moment} is lost`)
  if (await store.hasPet(after)) throw new Error(`the pet after the moment ${moment} is still there`)
}
