// `petstore top` on real processes, on a terminal, and on addresses that return something else.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import type { Readings } from '../../src/cli/top/readings.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { issueApiKey } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'
import { asDelivery } from '../support/roles.ts'
import { cleanEnvironment, EXECUTABLE, type Service, startService } from '../support/service.ts'
import { metricsText, openServeMetrics } from './top-fixture.ts'

const ENTER = '\u001b[?1049h'
const LEAVE = '\u001b[?25h\u001b[?1049l'
/** A port on which nothing listens. */
const CLOSED = 'http://127.0.0.1:2'

/** An HTTP server that is not a process of Petstore, or a broken one. */
async function serveAt(listener: RequestListener): Promise<string> {
  const { origin, close } = await openLocalServer(listener)
  onTestFinished(close)
  return origin
}

/** Instances that respond late on a busy host are not down. */
function waitForInstances(): void {
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal)
  onTestFinished(() => timeout.mockRestore())
}

/** On a busy host, a second can pass without a request, or with one that fails. The figures of a later one are then read. */
const untilTrue = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 120_000, interval: 20 })

describe('on real processes', () => {
  let serve: Service
  let deliver: Service
  let stopRequests: () => Promise<void>

  beforeAll(async () => {
    const DATABASE_URL = await createTestDatabase()
    serve = await startService({ DATABASE_URL, LOG_LEVEL: 'fatal' })
    deliver = await startService(
      { DATABASE_URL: asDelivery(DATABASE_URL), LOG_LEVEL: 'fatal' },
      { args: ['deliver'] },
    )
    const { text: apiKey } = await issueApiKey(openTestDatabase(DATABASE_URL), {
      name: 'shop',
      scopes: SCOPES,
    })
    const client = openTestClient({ origin: serve.origin, apiKey })
    const stop = new AbortController()
    const requests = (async () => {
      while (!stop.signal.aborted) {
        await client.post('/pets', { name: 'Rex', categoryId: 1 })
        await client.get('/pets?limit=many')
      }
    })()
    stopRequests = async () => {
      stop.abort()
      await requests
    }
    return async () => {
      await stopRequests()
      await Promise.all([serve.stop(), deliver.stop()])
    }
  })

  async function takeReadings(): Promise<Readings> {
    const addresses = [serve.adminOrigin, deliver.adminOrigin, CLOSED]
    const { code, stdout, stderr } = await runInProcess(['top', '--json', ...addresses])
    expect(stderr).toBe('')
    expect(code).toBe(0)
    return JSON.parse(stdout) as Readings
  }

  test('--json prints the figures of all processes', async () => {
    waitForInstances()
    await untilTrue(async () => {
      const readings = await takeReadings()
      expect(readings.intervalSeconds).toBeGreaterThanOrEqual(1)
      expect(readings.instances).toMatchObject([
        { url: serve.adminOrigin, up: true, reason: null, command: 'serve' },
        { url: deliver.adminOrigin, up: true, command: 'deliver' },
        { url: CLOSED, up: false, reason: 'no process listens on this port', command: null, version: null },
      ])
      expect(readings.instances[0]?.memoryBytes).toBeGreaterThan(10e6)
      expect(readings.problems).toContainEqual(
        expect.objectContaining({ state: 'fault', alert: 'PetstoreDown', title: 'An instance is down' }),
      )
      const { requests, database, batches, events, webhooks, holds } = readings
      const create = requests?.operations.find(({ operation }) => operation === 'createPet')
      expect(create?.perSecond).toBeGreaterThan(0)
      expect(create?.p99Seconds).toBeGreaterThan(0)
      expect(requests?.clientErrorsPerSecond).toBeGreaterThan(0)
      expect(requests?.serverErrorsPerSecond).toBe(0)
      expect(requests?.errors[0]?.code).toBe('invalid_parameter')
      expect(database?.connections.total).toBeGreaterThan(0)
      expect(database?.statements?.map(({ statement }) => statement)).toContain('insert_pets')
      expect(batches?.map(({ kind }) => kind)).toContain('insertPet')
      expect(events?.perSecond).toBeGreaterThan(0)
      expect(holds).toEqual({ open: 0, expiring: 0, overdueSeconds: 0 })
      expect(webhooks).toMatchObject({ enabled: 0, failing: 0, attemptsInFlight: 0, worstLag: null })
      // docs/monitoring.md documents every field.
      const documented = readFileSync(join(import.meta.dirname, '../../docs/monitoring.md'), 'utf8')
      expect(fieldsIn(readings).filter((field) => !documented.includes(`\`${field}\``))).toEqual([])
    })
  })

  test('--once prints the same as text, without control sequences', async () => {
    waitForInstances()
    await untilTrue(async () => {
      const { code, stdout } = await runInProcess(['top', '--once', serve.adminOrigin, deliver.adminOrigin])
      expect(code).toBe(0)
      expect(stdout).toMatch(/^petstore \S+ {3}2 of 2 instances up {3}last start /)
      expect(stdout).toMatch(/^ {2}createPet {3,}[\d.]+ +0 +0 +\S+ m?s +\S+ m?s$/m)
      expect(stdout).toMatch(/^ERRORS {5}invalid_parameter [\d.]+\/s$/m)
      expect(stdout).toMatch(/^ {2}insert_pets /m)
      expect(stdout).toMatch(/^WEBHOOKS {3}0 enabled/m)
      expect(stdout).not.toContain('\u001b')
      // A problem, such as a host that lacks CPU time, is never cut.
      const lines = stdout.split('\n').filter((line) => !/^(?:FAULT|WARNING) /.test(line))
      expect(lines.filter((line) => line.length > 80)).toEqual([])
    })
  })

  test('on a terminal, draws until q and restores the terminal, also after a resize', async () => {
    const terminal = openTerminal(
      `tty; stty cols 80 rows 24; "$NODE" "$FILE" top ${serve.adminOrigin} ${CLOSED}; echo "exit $?"; stty -a`,
    )
    const frames = () => framesOf(terminal.output())
    await expect.poll(frames).toContainEqual(expect.stringMatching(/ {2}createPet {3,}[\d.]+/))
    const [first = ''] = frames()
    expect(first.split('\r\n')).toHaveLength(24)
    expect(first).toContain('\u001b[31mFAULT')
    const [device = ''] = /\/dev\/\S+/.exec(terminal.output()) ?? []
    await promisify(execFile)('stty', ['-F', device, 'cols', '100', 'rows', '40'])
    await expect.poll(() => frames().at(-1)?.split('\r\n').length).toBe(40)
    terminal.type('q')
    const [drawn = '', rest = ''] = (await terminal.ended).split(LEAVE)
    expect(drawn).toContain(ENTER)
    expect(rest).toMatch(/^exit 0\r\n/)
    // Raw mode is off again.
    expect(rest).toMatch(/[^-]icanon .*[^-]echo /s)
  })

  test('restores the terminal on SIGTERM; NO_COLOR turns colours off; works without a keyboard', async () => {
    const terminal = openTerminal(
      `"$NODE" "$FILE" top ${serve.adminOrigin} ${CLOSED} < /dev/null & echo "pid $!"; wait $!; echo "exit $?"`,
      { NO_COLOR: '1' },
    )
    await expect.poll(() => framesOf(terminal.output()).length).toBeGreaterThan(0)
    process.kill(Number(/pid (\d+)/.exec(terminal.output())?.[1]), 'SIGTERM')
    const [drawn = '', rest = ''] = (await terminal.ended).split(LEAVE)
    expect(drawn).toContain('FAULT    An instance is down')
    expect(drawn).not.toContain('\u001b[31m')
    expect(rest).toContain('exit 143\r\n')
  })
})

/** Runs a line of bash on a terminal. `$NODE "$FILE"` is the executable. Linux only. */
function openTerminal(line: string, environment: Record<string, string> = {}) {
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    env: cleanEnvironment({
      SHELL: '/bin/bash',
      TERM: 'xterm-256color',
      NODE: process.execPath,
      FILE: EXECUTABLE,
      ...environment,
    }),
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  return {
    output: () => output,
    type: (keys: string) => child.stdin.write(keys),
    ended: once(child, 'close').then(() => output),
  }
}

/** What was drawn after each move to the upper left corner. */
const framesOf = (output: string) => output.split('\u001b[H').slice(1)

/** The names of all fields, without the names of values, such as the outcomes of attempts. */
function fieldsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) => [
    name,
    ...(name === 'attemptsPerSecond' ? [] : fieldsIn(field)),
  ])
}

const endless: RequestListener = (_request, response) => {
  const chunk = '# HELP x x\n'.repeat(10_000)
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', write)
  write()
}

test.each<[string, RequestListener, string]>([
  ['a page', (_request, response) => response.end('<html></html>'), 'not a process of Petstore 1.2 or later'],
  [
    'metrics as text',
    (_request, response) => response.end('up 1\n'),
    'not a process of Petstore 1.2 or later',
  ],
  [
    'metrics of another program',
    (_request, response) => response.end('[{"name":"up","values":[{"labels":{},"value":1}]}]'),
    'not a process of Petstore 1.2 or later',
  ],
  [
    'an error',
    (_request, response) => response.writeHead(404).end('{}'),
    'HTTP 404; use the port of ADMIN_PORT',
  ],
  [
    'a redirect',
    (_request, response) => response.writeHead(302, { location: '/' }).end(),
    'unexpected redirect',
  ],
  ['an endless response', endless, 'the response is too large for metrics'],
  ['no response', () => {}, 'no response within 2 s'],
])('an address that returns %s is down, and the command says why', async (what, listener, reason) => {
  if (what !== 'no response') waitForInstances()
  const { code, stdout, stderr } = await runInProcess(['top', '--once', await serveAt(listener)])
  expect(code).toBe(75)
  expect(stdout).toBe('')
  expect(stderr).toContain('No instance returned its metrics.')
  expect(stderr).toContain(reason)
  expect(stderr).toContain('petstore top http://127.0.0.1:9091')
})

test('without a URL, reads the ADMIN_PORT of the environment', async () => {
  waitForInstances()
  const text = await metricsText(openServeMetrics())
  const url = await serveAt((_request, response) => response.end(text))
  const { code, stdout } = await runInProcess(['top', '--once'], {
    ADMIN_PORT: new URL(url).port,
    ADMIN_HOST: '0.0.0.0',
  })
  expect(code).toBe(0)
  expect(stdout).toContain('1 of 1 instance up')
  const any = await runInProcess(['top', '--once'], { ADMIN_PORT: '0' })
  expect(any).toMatchObject({ code: 1, stdout: '' })
  expect(any.stderr).toContain('ADMIN_PORT is 0')
})

test('an instance that comes back has no rates from before', async () => {
  waitForInstances()
  const text = await metricsText(openServeMetrics())
  let requests = 0
  const url = await serveAt((_request, response) => {
    requests += 1
    if (requests === 1) response.destroy()
    else response.end(text)
  })
  const up = await serveAt((_request, response) => response.end(text))
  const { code, stdout } = await runInProcess(['top', '--json', url, up])
  expect(code).toBe(0)
  const { instances } = JSON.parse(stdout) as Readings
  expect(instances.map(({ up: isUp, cpu }) => [isUp, cpu])).toEqual([
    [true, null],
    [true, 0],
  ])
})

test.each([
  [['ftp://127.0.0.1'], 'Use a URL such as http://127.0.0.1:9090.'],
  [['http://user:secret@127.0.0.1:9090'], 'Use a URL such as'],
  [['http://127.0.0.1:9090/v1'], 'Use a URL such as'],
  [['--interval', '0'], 'Use a whole number from 1 to 60.'],
  [['--interval', '61'], 'Use a whole number from 1 to 60.'],
  [Array.from({ length: 51 }, (_, index) => `127.0.0.1:${9_000 + index}`), 'The max is 50 URLs.'],
])('rejects wrong arguments: %s', async (args, message) => {
  const { code, stderr } = await runInProcess(['top', ...args])
  expect(code).toBe(1)
  expect(stderr).toContain(message)
})
