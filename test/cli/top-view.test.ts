// What `petstore top` draws: the figures of a readings as lines that fit into the terminal.
import { expect, test } from 'vitest'
import { widthOf } from '../../src/cli/terminal/terminal.ts'
import type { ProcessState } from '../../src/cli/top/processes.ts'
import type { Problem } from '../../src/cli/top/readings.ts'
import { openRecentProblems } from '../../src/cli/top/recent-problems.ts'
import { takeReadings } from '../../src/cli/top/take-readings.ts'
import { drawSnapshot, type ViewOptions } from '../../src/cli/top/view.ts'
import { VERSION } from '../../src/values/version.ts'
import { openDeliverMetrics, openServeMetrics, scrapeTwice, STORE } from './top-fixture.ts'

const NOW = new Date('2026-11-16T12:00:00Z')
const textsOf = (processes: ProcessState[], options: Partial<ViewOptions> = {}) =>
  drawSnapshot(takeReadings(processes, NOW), { width: 80, clock: '12:00:00', ...options }).map((line) =>
    line
      .map((cell) => (typeof cell === 'string' ? cell : cell.text))
      .join('')
      .trimEnd(),
  )

/** Two seconds of work of a busy service and of a process that delivers webhooks. */
async function busyProcesses(): Promise<ProcessState[]> {
  const serve = openServeMetrics()
  const deliver = openDeliverMetrics()
  const times = (count: number, work: () => void) => Array.from({ length: count }, work)
  const served = await scrapeTwice(
    serve,
    () => {
      times(2_000, () => serve.observeRequest('listPets', 200, 0.004))
      times(200, () => serve.observeRequest('createPet', 201, 0.02))
      times(20, () => serve.observeRequest('updatePet', 404, 0.002))
      times(20, () => serve.countError('pet_not_found'))
      times(400, () => serve.database.onQuery('find_pet_pages_by_category_and_status', 0.003))
      times(100, () => serve.database.onQuery('insert_pets', 0.008))
      times(500, () => serve.database.onWait('read', 0.0001))
      times(100, () => serve.observeBatch('insertPet', 2, 0.006))
      serve.observeFeed({ head: 1_200n, unnumberedSeconds: 0.05 })
      serve.setEventStreams(3)
    },
    { seconds: 2, changed: { process_cpu_seconds_total: 61 } },
  )
  const delivered = await scrapeTwice(
    deliver,
    () => {
      times(80, () => deliver.observe('delivered', 20))
      times(4, () => deliver.observe('failed', 15_000))
      deliver.state.lagSeconds.set(8n, 42)
      deliver.state.failing = 1
    },
    { url: 'http://127.0.0.1:9093', seconds: 2 },
  )
  return [served, delivered]
}

const DOWN = { url: 'http://127.0.0.1:9092', failure: 'no process listens on this port' }

test('the rates of requests are unknown after a restart, also if `petstore deliver` has rates', async () => {
  const [serve, deliver] = (await busyProcesses()) as [ProcessState, ProcessState]
  const restarted = { url: serve.url, metrics: serve.metrics }
  const { requests, batches, database, webhooks } = takeReadings([restarted, deliver], NOW)
  expect([requests, batches, database?.statements]).toEqual([null, null, null])
  expect(webhooks?.attemptsPerSecond).toEqual({ delivered: 40, failed: 2 })
})

test('shows every part at 80 columns', async () => {
  const [serve, deliver] = (await busyProcesses()) as [ProcessState, ProcessState]
  const other = { ...DOWN, url: 'http://127.0.0.1:9094' }
  expect(textsOf([serve, DOWN, deliver, other])).toEqual([
    `${`petstore ${VERSION}   2 of 4 instances up   last start 55 d 21 h ago`.padEnd(72)}12:00:00`,
    'FAULT    An instance is down (×2): 127.0.0.1:9092: no process listens on this port',
    '',
    'REQUESTS                                  RATE/S  4XX/S  5XX/S      P50      P99',
    '  all operations                           1,110     10      0   3.9 ms    23 ms',
    '  listPets                                 1,000      0      0   3.8 ms   5.0 ms',
    '  createPet                                  100      0      0    18 ms    25 ms',
    '  updatePet                                   10     10      0   1.8 ms   2.5 ms',
    '',
    'STATEMENTS OF POSTGRESQL                  RATE/S   TIME             P50      P99',
    '  find_pet_pages_by_category_and_status      200   60 %          3.8 ms   5.0 ms',
    '  insert_pets                                 50   40 %          7.5 ms    10 ms',
    '',
    'BATCHES                                   RATE/S   SIZE                 WAIT P99',
    '  insertPet                                   50    2.0                    10 ms',
    '',
    'ERRORS     pet_not_found 10/s',
    'POOL       10 connections, 7 idle, 0 waiting (p99 <1 ms), 0 unacknowledged',
    'STANDBYS   2 connected, 1 required to confirm a write',
    'HOLDS      12 open, 3 expiring within 5 min, none overdue',
    'FEED       100 events/s, all changes numbered, newest 1,200, 3 streams',
    'WEBHOOKS   5 enabled, 1 failing, max lag 42 s (id 8), 42 attempts/s (2.0 failed)',
    '',
    'PROCESSES              COMMAND   VERSION      UP    CPU   MEMORY  LAG P99  FILES',
    `  127.0.0.1:9091         serve ${VERSION.padStart(9)}    55 d   50 %   180 MB    12 ms     87`,
    '  127.0.0.1:9092  DOWN  no process listens on this port',
    `  127.0.0.1:9093       deliver ${VERSION.padStart(9)}    55 d    0 %   180 MB    12 ms     87`,
    '  127.0.0.1:9094  DOWN  no process listens on this port',
  ])
})

test.each([40, 60, 80, 120, 200])('no line is wider than a terminal of %i columns', async (width) => {
  const serve = openServeMetrics()
  const state = await scrapeTwice(
    serve,
    () => {
      serve.observeRequest('x'.repeat(200), 503, 20)
      serve.countError('pet_not_found')
      serve.database.onQuery('小狗'.repeat(100), 1)
      serve.observeBatch('\u001b[2J'.repeat(50), 1, 1)
      serve.observeStore({ ...STORE, holds: 123_456_789, overdueSeconds: 1e9 })
      serve.observeFeed({ head: 2n ** 60n, unnumberedSeconds: 1e9 })
    },
    { url: `http://${'host.'.repeat(40)}example:9091` },
  )
  for (const height of [undefined, 24, 50]) {
    const lines = textsOf([state, { ...DOWN, failure: 'reason '.repeat(40) }, ...(await busyProcesses())], {
      width,
      height,
      keys: 'q: quit',
    })
    // Printed once, problems are not cut.
    const cut = height === undefined ? lines.filter((line) => !/^(FAULT|WARNING) /.test(line)) : lines
    expect(cut.filter((line) => widthOf(line) > width)).toEqual([])
    expect(lines.join('')).not.toContain('\u001b')
  }
})

test.each([1, 5, 10, 16, 24, 31, 32, 60])(
  'at most %i lines are drawn on a terminal of that height',
  async (height) => {
    const processes = await busyProcesses()
    const lines = textsOf([...processes, DOWN, DOWN, DOWN, DOWN], { height })
    expect(lines.length).toBeLessThanOrEqual(height)
    expect(lines[0]).toContain('petstore')
  },
)

test('lines keep their places while operations come and go', async () => {
  const idle = await scrapeTwice(openServeMetrics(), () => {})
  const [busy] = (await busyProcesses()) as [ProcessState]
  const labelsOf = (state: ProcessState) =>
    textsOf([state], { height: 24 }).map((line) => /^[A-Z]+/.exec(line)?.[0])
  expect(labelsOf(busy)).toEqual(labelsOf(idle))
})

test('before the second scrape, rates are unknown and values are shown', async () => {
  const { url, metrics } = await scrapeTwice(openServeMetrics(), () => {})
  const lines = textsOf([{ url, metrics }])
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}all operations( +-){5}$/))
  expect(lines).toContainEqual('HOLDS      12 open, 3 expiring within 5 min, none overdue')
  expect(lines).toContainEqual(expect.stringContaining('10 connections, 7 idle'))
})

test('without an instance that is up, only the problems and the processes are shown', () => {
  expect(textsOf([DOWN])).toEqual([
    'petstore   0 of 1 instance up                                           12:00:00',
    'FAULT    An instance is down: 127.0.0.1:9092: no process listens on this port',
    '',
    expect.stringMatching(/^PROCESSES +COMMAND/),
    '  127.0.0.1:9092  DOWN  no process listens on this port',
  ])
})

test('with an instance of another version, the header says so', async () => {
  const [serve, deliver] = (await busyProcesses()) as [ProcessState, ProcessState]
  const other = { name: 'petstore_build_info', labels: { version: '9.9.9' }, value: 1 }
  const metrics = new Map(deliver.metrics).set(other.name, [other])
  expect(textsOf([serve, { ...deliver, metrics }])[0]).toContain('and other versions')
})

test('after a restart, an instance has no rates until the next scrape', async () => {
  const serve = openServeMetrics()
  const state = await scrapeTwice(serve, () => serve.observeFeed({ head: 9_999n, unnumberedSeconds: null }), {
    changed: { process_start_time_seconds: 1_790_000_500 },
  })
  expect(state.rates).toBeUndefined()
  expect(textsOf([{ url: state.url, metrics: state.metrics }])).toContainEqual(
    'FEED       - events/s, all changes numbered, newest 9,999, 0 streams',
  )
})

const problemOf = (title: string, state: Problem['state'] = 'fault'): Problem => ({
  state,
  alert: null,
  title,
  message: '4 %',
  entry: 'x',
})

test('a problem stays for 15 s after its end', () => {
  const problem = problemOf('Requests fail')
  const other = problemOf('A standby is lost', 'warning')
  const findEnded = openRecentProblems()
  expect(findEnded([problem, other], 100)).toEqual([])
  expect(findEnded([], 104)).toEqual([
    { problem, endedSeconds: 4 },
    { problem: other, endedSeconds: 4 },
  ])
  expect(textsOf([], { ended: findEnded([], 104) })[2]).toBe('ended    Requests fail 4 s ago: 4 %')
  expect(findEnded([problem], 105)).toEqual([{ problem: other, endedSeconds: 5 }])
  expect(findEnded([], 121)).toEqual([])
  expect(findEnded([], 106)).toEqual([])
})

test('if there are too many problems for the terminal, says how many are hidden', () => {
  const titles = Array.from({ length: 7 }, (_, index) => `Problem ${index}`)
  const readings = { ...takeReadings([], NOW), problems: titles.map((title) => problemOf(title)) }
  const ended = [{ problem: problemOf('Requests fail'), endedSeconds: 1 }]
  const drawn = drawSnapshot(readings, { width: 80, height: 24, clock: '12:00:00', ended })
  const texts = drawn.map((line) =>
    line.map((cell) => (typeof cell === 'string' ? cell : cell.text)).join(''),
  )
  expect(texts.slice(1, 5)).toEqual([
    'FAULT    Problem 0: 4 %',
    'FAULT    Problem 1: 4 %',
    'FAULT    Problem 2: 4 %',
    '         and 4 more; --once lists all',
  ])
})
