// Upgrades the server with many pets, a hold, a reader of the event feed and a webhook. Measures the downtime, and checks
// that all of them continue after the upgrade.
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SCOPES } from '../../src/contract/scopes.ts'
import { waitUntil } from '../parts/wait-until.ts'
import { ADMIN, openStore, type Store } from './checks.ts'
import type { Machine } from './machine.ts'
import type { Section } from './page.ts'
import type { Witnessed } from './upgrade-witness.ts'

const WITNESS = '/root/upgrade-witness.ts'
const RECEIVED = '/root/upgrade-received.jsonl'
const REQUESTED = '/root/upgrade-requested.jsonl'
const TIMES = '/root/upgrade-times'
const RECEIVER_UNIT = 'upgrade-receiver'
const REQUESTER_UNIT = 'upgrade-requester'
const RECEIVER_PORT = 4000
const IMPORT_TIMEOUT_MS = 30 * 60_000
const DELIVERY_TIMEOUT_MS = 120_000
const READY_TIMEOUT_MS = 60_000
/** Longer than the upgrade. */
const HOLD_MINUTES = 24 * 60
const EVENTS_MAX = 1000
const CATEGORIES = 20
const SERVER_VERSION = '17'
/** Reads come twice a second. A shorter gap is a slow request. */
const INTERRUPTION_MIN_S = 2

export interface UpgradeFigures {
  pets: number
  databaseMb: number
  importSeconds: number
  /** The longest time without a successful read through HAProxy. */
  downtimeSeconds: number
  /** The other gaps of at least 2 s, in seconds. */
  interruptions: number[]
  /** Pets that were added while the upgrade ran. */
  addedMeanwhile: number
  events: number
  /** Messages that the receiver got more than once. */
  repeatedMessages: number
  commands: CommandTime[]
}

export interface CommandTime {
  command: string
  seconds: number
}

export interface UpgradeOptions {
  machine: Machine
  /** How many pets to import before the upgrade. */
  pets: number
  section: Section
  follow: (section: Section) => Promise<void>
  step: (name: string, commands: number, work: () => Promise<unknown>) => Promise<void>
}

interface FeedEvent {
  position: string
  type: string
  petId: number
  order?: { id: number }
}

interface Before {
  /** A reader of the feed has read until here. */
  position: string
  pets: number
  orderId: number
  webhookId: number
}

export async function upgradeWithPets(options: UpgradeOptions): Promise<UpgradeFigures> {
  const { machine, pets, section, follow, step } = options
  const store = await openStore(
    machine,
    SCOPES.filter((scope) => scope !== 'admin'),
  )
  let importSeconds = 0
  await step(`import ${pets} pets`, 0, async () => {
    importSeconds = await importPets(machine, pets)
  })
  let before: Before | undefined
  await step('place a hold, and create a webhook', 0, async () => {
    before = await prepare(machine, store)
  })
  if (before === undefined) throw new Error('nothing was prepared')
  const databaseMb = Math.round(Number(await query(machine, "select pg_database_size('petstore')")) / 1e6)
  await follow(withTimes(section))
  const upgradedAt = Date.now()
  let results: Pick<UpgradeFigures, 'events' | 'repeatedMessages'> | undefined
  await step('check the store after the upgrade', 0, async () => {
    results = await checkStore(machine, store, before as Before, upgradedAt)
  })
  if (results === undefined) throw new Error('nothing was checked')
  const requested = witnessed(machine, REQUESTED)
  const [downtimeSeconds = 0, ...interruptions] = gapsOf(
    requested.flatMap((line) => (line.kind === 'read' ? [line.at] : [])),
  )
  const addedMeanwhile = requested.filter(({ kind }) => kind === 'added').length
  const commands = commandTimes(readFileSync(join(machine.root, TIMES), 'utf8'))
  return {
    pets: before.pets,
    databaseMb,
    importSeconds,
    downtimeSeconds,
    interruptions: interruptions.filter((seconds) => seconds >= INTERRUPTION_MIN_S),
    addedMeanwhile,
    ...results,
    commands,
  }
}

/** Sends a CSV file to the import of the server, and returns the seconds that the import took. */
async function importPets(machine: Machine, pets: number): Promise<number> {
  const rows = Array.from({ length: pets }, (_, index) => `Pet ${index + 1},${1 + (index % CATEGORIES)}\n`)
  // petstore-admin runs as a user that can write only to its own /tmp.
  const command = [
    ADMIN,
    'import',
    '-',
    '--id',
    'before-the-upgrade',
    '--rejected',
    '/tmp/rejected.csv',
    '--json',
  ]
  const input = `name,categoryId\n${rows.join('')}`
  const output = await machine.runChecked(command, { input, timeoutMs: IMPORT_TIMEOUT_MS })
  const { added, seconds } = JSON.parse(output) as { added: number; seconds: number }
  if (added !== pets) throw new Error(`the import added ${added} of ${pets} pets`)
  return seconds
}

async function prepare(machine: Machine, store: Store): Promise<Before> {
  for (const file of [RECEIVED, REQUESTED, TIMES]) rmSync(join(machine.root, file), { force: true })
  copyFileSync(join(import.meta.dirname, 'upgrade-witness.ts'), join(machine.root, WITNESS))
  await allowReceiver(machine)
  await startWitness(machine, RECEIVER_UNIT, ['receive', RECEIVED, `${RECEIVER_PORT}`])
  const url = `http://127.0.0.1:${RECEIVER_PORT}/hook`
  const webhook = await send(store, 'POST', '/v1/webhooks', 201, { url })
  const petId = Number(await store.addPet('before the upgrade'))
  const pets = Number(await query(machine, 'select count(*) from pets'))
  const position = await positionOf(machine, store, petId)
  const order = { petId, holdMinutes: HOLD_MINUTES }
  const { id: orderId } = await send(store, 'POST', '/v1/store/orders', 201, order)
  await startWitness(machine, REQUESTER_UNIT, ['request', REQUESTED, store.apiKey, `${petId}`])
  await waitUntil('the first pet of the requester', READY_TIMEOUT_MS, () =>
    witnessed(machine, REQUESTED).some(({ kind }) => kind === 'added'),
  )
  return { position, pets, orderId, webhookId: webhook.id }
}

/** The receiver is on the server itself, so the settings must allow its address. */
async function allowReceiver(machine: Machine): Promise<void> {
  const setting = 'WEBHOOK_NETWORKS=127.0.0.1/32'
  for (const name of ['petstore', 'deliver']) {
    const file = `/etc/petstore/${name}.env`
    await machine.runChecked(['sh', '-c', `grep -qx '${setting}' ${file} || echo '${setting}' >> ${file}`])
  }
  await machine.runChecked(['systemctl', 'restart', 'petstore@1', 'petstore@2', 'petstore-deliver'])
  const retry = ['--retry', '60', '--retry-delay', '1', '--retry-all-errors']
  for (const port of [9091, 9092, 9190])
    await machine.runChecked(['curl', '-fsS', ...retry, `http://127.0.0.1:${port}/ready`])
}

async function startWitness(machine: Machine, unit: string, args: string[]): Promise<void> {
  const command = ['systemd-run', '--quiet', '--collect', `--unit=${unit}`]
  await machine.runChecked([...command, '/usr/local/bin/node', WITNESS, ...args])
}

/** Waits until the receiver has the event of the new pet, which is the newest event. */
async function positionOf(machine: Machine, store: Store, petId: number): Promise<string> {
  let position = ''
  await waitUntil(`the event of pet ${petId}`, DELIVERY_TIMEOUT_MS, async () => {
    const last = received(machine).at(-1)
    if (last === undefined) return false
    position = last.position
    return (await eventsAfter(store, position)).length === 0
  })
  return position
}

async function checkStore(
  machine: Machine,
  store: Store,
  before: Before,
  upgradedAt: number,
): Promise<Pick<UpgradeFigures, 'events' | 'repeatedMessages'>> {
  const version = await query(machine, 'show server_version')
  if (!version.startsWith(`${SERVER_VERSION}.`))
    throw new Error(`PostgreSQL still has the version ${version}`)
  await machine.runChecked(['systemctl', 'stop', REQUESTER_UNIT])
  const order = await send(store, 'POST', `/v1/store/orders/${before.orderId}/complete`, 200)
  if (order.status !== 'completed') throw new Error(`the hold was not completed: ${JSON.stringify(order)}`)
  const petId = Number(await store.addPet('after the upgrade'))
  let events: FeedEvent[] = []
  await waitUntil(`the event of pet ${petId} in the feed`, DELIVERY_TIMEOUT_MS, async () => {
    events = await eventsAfter(store, before.position)
    return events.some((event) => event.petId === petId)
  })
  const added = witnessed(machine, REQUESTED).flatMap((line) => (line.kind === 'added' ? [line.petId] : []))
  const faults = feedFaults(events, before.position, [...added, petId], before.orderId)
  const created = events.filter(({ type }) => type === 'pet.created').length
  const pets = Number(await query(machine, 'select count(*) from pets'))
  if (pets !== before.pets + created)
    faults.push(`${before.pets} pets and ${created} new ones became ${pets} pets`)
  await waitUntil('the webhook after the upgrade', DELIVERY_TIMEOUT_MS, () => {
    const positions = new Set(received(machine).map(({ position }) => position))
    return events.every(({ position }) => positions.has(position))
  }).catch(() => {})
  const messages = received(machine)
  faults.push(...webhookFaults(events, messages, before.position, upgradedAt))
  if (faults.length > 0) throw new Error(`after the upgrade:\n${faults.join('\n')}`)
  await machine.runChecked([ADMIN, 'doctor'])
  await send(store, 'DELETE', `/v1/webhooks/${before.webhookId}`, 204)
  await machine.runChecked(['systemctl', 'stop', RECEIVER_UNIT])
  return { events: events.length, repeatedMessages: messages.length - uniqueIds(messages) }
}

export type Received = Extract<Witnessed, { kind: 'received' }>
const uniqueIds = (messages: readonly Received[]) => new Set(messages.map(({ webhookId }) => webhookId)).size
const epochOf = (position: string) => position.split('-')[0]
const numberOf = (position: string) => Number(position.split('-')[1])

/** The feed continues in the same epoch, and has each acknowledged pet, and the hold and its completion, exactly once. */
export function feedFaults(
  events: readonly FeedEvent[],
  after: string,
  added: readonly number[],
  orderId: number,
): string[] {
  const faults: string[] = []
  let last = after
  for (const { position } of events) {
    if (epochOf(position) !== epochOf(last) || numberOf(position) <= numberOf(last))
      faults.push(`the position ${position} follows ${last}`)
    last = position
  }
  for (const id of added) {
    const found = events.filter(({ type, petId }) => type === 'pet.created' && petId === id).length
    if (found !== 1) faults.push(`the feed has pet ${id} ${found} times`)
  }
  const ofOrder = events.flatMap(({ type, order }) => (order?.id === orderId ? [type] : []))
  if (ofOrder.join() !== 'order.placed,order.completed')
    faults.push(`the feed has these events of the hold: ${ofOrder.join(', ')}`)
  return faults
}

/**
 * The receiver got every event of the feed, and nothing else. A message can arrive twice if PostgreSQL restarted before
 * the delivery was stored, but not after the upgrade.
 */
export function webhookFaults(
  events: readonly FeedEvent[],
  messages: readonly Received[],
  after: string,
  upgradedAt: number,
): string[] {
  const faults: string[] = []
  const idOf = new Map<string, string>()
  const inFeed = new Set(events.map(({ position }) => position))
  for (const { at, webhookId, position } of messages) {
    if (epochOf(position) === epochOf(after) && numberOf(position) <= numberOf(after)) continue
    const known = idOf.get(position)
    if (!inFeed.has(position)) faults.push(`the receiver got ${position}, which the feed does not have`)
    if (known !== undefined && known !== webhookId)
      faults.push(`${position} has the ids ${known} and ${webhookId}`)
    if (known !== undefined && at > upgradedAt)
      faults.push(`the receiver got ${position} again after the upgrade`)
    idOf.set(position, webhookId)
  }
  for (const position of inFeed) if (!idOf.has(position)) faults.push(`the receiver did not get ${position}`)
  return faults
}

/** The seconds between two successful reads, longest first. */
export function gapsOf(times: readonly number[]): number[] {
  const sorted = times.toSorted((a, b) => a - b)
  const gaps = sorted.slice(1).map((time, index) => Math.round((time - (sorted[index] ?? 0)) / 100) / 10)
  return gaps.toSorted((a, b) => b - a)
}

/** Makes the script write the time before each command, without a change to the numbers of its lines. */
export function withTimes(section: Section, file = TIMES): Section {
  const trap = `trap 'echo "$EPOCHREALTIME $BASH_COMMAND" >> ${file}' DEBUG`
  // The time of `:` is the end of the last command.
  return { ...section, script: `${trap}; ${section.script}:\n` }
}

/** The seconds of each command, of a file that `withTimes` has written. */
export function commandTimes(times: string): CommandTime[] {
  const starts = [...times.matchAll(/^(\d+)[.,](\d+) (.*)$/gm)].map(
    ([, seconds, fraction, command = '']) => ({
      at: Number(`${seconds}.${fraction}`),
      command,
    }),
  )
  return starts.slice(0, -1).map(({ at, command }, index) => {
    const end = starts[index + 1]?.at ?? at
    return { command, seconds: Math.round((end - at) * 10) / 10 }
  })
}

/** All events after a position. */
async function eventsAfter(store: Store, position: string): Promise<FeedEvent[]> {
  const events: FeedEvent[] = []
  for (let after = position; ; ) {
    const { body, status } = await store.request(`/v1/events?after=${after}&limit=${EVENTS_MAX}`)
    if (status !== 200) throw new Error(`the feed does not continue after ${after}: ${status} ${body}`)
    const page = JSON.parse(body) as FeedEvent[]
    events.push(...page)
    const last = page.at(-1)
    if (last === undefined) return events
    after = last.position
  }
}

async function send(
  store: Store,
  method: string,
  path: string,
  expected: number,
  body?: object,
): Promise<{ id: number; status?: string }> {
  const data =
    body === undefined ? [] : ['--header', 'Content-Type: application/json', '--data', JSON.stringify(body)]
  const response = await store.request(path, '--request', method, ...data)
  if (response.status !== expected) throw new Error(`${method} ${path}: ${response.status} ${response.body}`)
  return response.body === '' ? { id: 0 } : (JSON.parse(response.body) as { id: number; status?: string })
}

function witnessed(machine: Machine, file: string): Witnessed[] {
  const path = join(machine.root, file)
  if (!existsSync(path)) return []
  // The last line can be incomplete while the witness writes it.
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Witnessed)
}

function received(machine: Machine): Received[] {
  return witnessed(machine, RECEIVED).flatMap((line) => (line.kind === 'received' ? [line] : []))
}

async function query(machine: Machine, statement: string): Promise<string> {
  const psql = [
    'psql',
    '--dbname=petstore',
    '--no-psqlrc',
    '--tuples-only',
    '--no-align',
    `--command=${statement}`,
  ]
  return (await machine.runChecked(['runuser', '-u', 'postgres', '--', ...psql])).trim()
}
