// `petstore events tail`.
import { expect, test } from 'vitest'
import { SCOPES } from '../../src/contract/scopes.ts'
import { insertEpoch } from '../../src/events/feed/queries.ts'
import { issueApiKey } from '../support/app.ts'
import { openFeed } from '../support/feed.ts'
import { runInProcess } from '../support/in-process.ts'
import { shell, startPetstore } from '../support/service.ts'

const feed = await openFeed()
const { api } = feed
const { text } = await issueApiKey(api.db, { name: 'staff', scopes: SCOPES })
const environment = { PETSTORE_URL: api.origin, PETSTORE_API_KEY: text, TZ: 'UTC' }
const tail = (...args: string[]) => runInProcess(['events', 'tail', ...args], environment)

/** The position of the newest event. */
async function newest(): Promise<string> {
  await feed.sequence()
  const { headers } = await api.get('/events?after=latest')
  return /after=([\w-]+)/.exec(headers.get('link') ?? '')?.[1] ?? ''
}

test('prints one line per event, at most 80 columns wide', async () => {
  const start = await newest()
  const { id } = await api.addPet({ name: 'Biscuit', categoryId: 3 })
  await api.patch(id, { name: 'Rex', status: 'pending' })
  await api.patch(id, { categoryId: 4, status: 'available' })
  const order = await api.hold({ petId: id })
  await api.end('cancel', order.id)
  await api.put(`/pets/${id}/profile`, { price: '129.00' })
  const long = await api.addPet({ name: '犬'.repeat(100) })
  await api.remove(`/pets/${long.id}`)
  const { code, stdout, stderr } = await tail('--after', start, '--limit', '10')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const lines = stdout.trimEnd().split('\n')
  expect(lines.map((line) => line.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}/, ''))).toEqual([
    `pet.created          ${id}  Biscuit: available  by staff`,
    `pet.updated          ${id}  Rex: renamed, pending  by staff`,
    `pet.updated          ${id}  Rex: category 4, available  by staff`,
    `pet.updated          ${id}  Rex: pending  by staff`,
    `order.placed         ${id}  order ${order.id}  by staff`,
    `order.cancelled      ${id}  order ${order.id}  by staff`,
    `pet.updated          ${id}  Rex: available  by staff`,
    `pet.profile_updated  ${id}  price 129.00 EUR  by staff`,
    expect.stringMatching(/^pet\.created {10}\d+ {2}犬{3,}…: available {2}by staff$/),
    `pet.deleted          ${long.id}  by staff`,
  ])
  // Each 犬 is two columns wide.
  expect((lines[8] ?? '').replaceAll('犬', '##').length).toBeLessThanOrEqual(80)
})

test('--json prints the events as JSON lines with exact ids, and --type filters', async () => {
  const start = await newest()
  await api.sql(`insert into pets (id, name, category_id) overriding system value
    values (9007199254740993, E'\\u001b[2J', 9223372036854775807)`)
  await api.sql('delete from pets where id = 9007199254740993')
  const { stdout } = await tail('--after', start, '--json', '--limit', '1')
  expect(stdout).toContain('"type":"pet.created"')
  expect(stdout).toContain(
    '"pet":{"id":9007199254740993,"name":"\\u001b[2J","categoryId":9223372036854775807,',
  )
  const deleted = await tail(
    '--after',
    start,
    '--json',
    '--limit',
    '1',
    '--type',
    'pet.deleted',
    'order.placed',
  )
  expect(JSON.parse(deleted.stdout)).toMatchObject({ type: 'pet.deleted' })
  const readable = await tail('--after', start, '--limit', '1')
  expect(readable.stdout).toMatch(/ {2}\\u001b\[2J: available\n$/)
})

test('--after start prints the feed from its start', async () => {
  const { stdout } = await tail('--after', 'start', '--limit', '1', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ type: 'pet.created', pet: { name: 'Biscuit' } })
})

test('prints events from now on, reconnects, and Ctrl-C ends it with 0', async () => {
  const { id } = await api.addPet()
  const command = startPetstore(['events', 'tail'], environment)
  let count = 0
  const write = async () => {
    count += 1
    await api.patch(id, { name: `Name ${count}` })
    return command.printed().stdout
  }
  await expect.poll(write, { interval: 200 }).toContain('renamed')
  feed.drain()
  await expect.poll(() => command.printed().stderr).toContain('Reconnecting.')
  feed.accept()
  const last = `Name ${count}`
  await expect.poll(write, { interval: 200 }).toContain(`${last}: renamed`)
  await expect.poll(() => command.printed().stdout).toContain(`Name ${count}: renamed`)
  command.kill('SIGINT')
  const { code, signal, stdout, stderr } = await command.finished
  expect({ code, signal }).toEqual({ code: 0, signal: null })
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  const numbers = [...stdout.matchAll(/Name (\d+): renamed/g)].map(([, number]) => Number(number))
  const [first = 0] = numbers
  expect(numbers).toEqual(Array.from({ length: count - first + 1 }, (_, index) => first + index))
})

test('ends with 0 and without a message if its reader closes the pipe', async () => {
  const line = 'petstore events tail --after start --json | head -n 1 > /dev/null; echo "${PIPESTATUS[0]}"'
  const running = shell(line, environment)
  // The command notices that the pipe is closed when it writes the next events.
  const timer = setInterval(() => void api.addPet(), 200)
  const { stdout, stderr } = await running
  clearInterval(timer)
  expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' })
})

test('an expired position: says what to do and exits with 1', async () => {
  const start = await newest()
  await insertEpoch(api.db)
  const { code, stderr } = await tail('--after', start)
  expect(code).toBe(1)
  expect(stderr).toContain('To continue with new events, use --after latest.')
  expect(stderr).toContain('(events_expired, request ')
  expect((await tail('--after', 'nonsense')).stderr).toContain('after must be the position of an event')
})

test('a key without the scope: names the missing scope', async () => {
  const { text: weak } = await issueApiKey(api.db, { scopes: ['pets:read'] })
  const { code, stderr } = await runInProcess(['events', 'tail'], { ...environment, PETSTORE_API_KEY: weak })
  expect(code).toBe(1)
  expect(stderr).toContain('The command needs the scope events:read.')
})
