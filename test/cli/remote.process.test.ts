// Behaviour of every command that calls a running service: address, API key, errors, retries, and how the command ends
// on a timeout, a broken connection, a closed pipe or Ctrl-C.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { freePort } from '../../src/data/demo/cluster.ts'
import { issueApiKey } from '../support/app.ts'
import type { FaultInjector } from '../support/fault-injector.ts'
import { runInProcess } from '../support/in-process.ts'
import { onTerminal, petstore, shell, startPetstore } from '../support/service.ts'
import { behindFaultInjector, openCliFixture } from './fixture.ts'

const cli = await openCliFixture()
const { run, api, environment } = cli
const { PETSTORE_API_KEY = '' } = environment

const EXIT_TRY_LATER = 75

/** Makes the pause before a retry longer than any timeout, so that a command ends with the error of its first attempt. */
const LONG_PAUSE = 1e6
const WITHOUT_RETRIES = { NODE_OPTIONS: `--import=data:text/javascript,Math.random=()=>${LONG_PAUSE}` }

async function untilRequested({ seen }: FaultInjector): Promise<void> {
  while (seen.length === 0) await sleep(20)
}

test('without an API key, a command says what to do and sends no request', async () => {
  const { code, stdout, stderr } = await runInProcess(['inventory'], { PETSTORE_API_KEY: ' ' })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('PETSTORE_API_KEY is not set; ask the operator of the service for a key')
})

test('an invalid URL or API key is rejected and not printed', async () => {
  const invalid = {
    PETSTORE_URL: 'http://me:hunter2@127.0.0.1/v1',
    PETSTORE_API_KEY: 'petstore_live_\u00a0hunter3',
  }
  const { code, stdout, stderr } = await runInProcess(['inventory'], invalid)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('PETSTORE_URL (or --url) must be a URL such as https://')
  expect(stderr).toContain('PETSTORE_API_KEY contains characters that no API key contains')
  expect(stderr).not.toMatch(/hunter/)
  const given = await runInProcess(['inventory', '--url', 'me:hunter2@127.0.0.1:3000'], environment)
  expect(given).toMatchObject({ code: 1, stderr: expect.stringContaining('(or --url) must be a URL') })
  expect(given.stderr).not.toMatch(/hunter/)
})

test('--url overrides PETSTORE_URL, and accepts an origin without a path', async () => {
  const elsewhere = { ...environment, PETSTORE_URL: 'http://127.0.0.1:9/v1' }
  const { stdout, ...end } = await petstore(['inventory', '--json', '--url', api.origin], elsewhere)
  expect(end).toEqual({ code: 0, signal: null, stderr: '' })
  expect(JSON.parse(stdout)).toHaveProperty('available')
})

test('an unknown API key: the message says what to check and does not contain the key', async () => {
  const wrong = `${PETSTORE_API_KEY.slice(0, -8)}AAAAAAAA`
  const { code, stdout, stderr } = await runInProcess(['pets', 'list'], {
    ...environment,
    PETSTORE_API_KEY: wrong,
  })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    /^The API key is not valid\.\nCheck PETSTORE_API_KEY: .*\n\(invalid_api_key, request \S+\)\n$/,
  )
  expect(stderr).not.toContain(wrong.slice(14, 30))
})

test('an API key without the scope: the message names the missing scope', async () => {
  const { text } = await issueApiKey(api.db, { scopes: ['pets:read'] })
  const args = ['pets', 'add', 'Rex', '--category', '1']
  const { code, stderr } = await runInProcess(args, { ...environment, PETSTORE_API_KEY: text })
  expect(code).toBe(1)
  expect(stderr).toContain(
    'The command needs the scope pets:write. Ask the operator for a key with this scope.\n(insufficient_scope, ',
  )
})

test('each invalid field of a request is printed on its own line', async () => {
  const { code, stdout, stderr } = await run('orders', 'place', '1', '--note', 'x'.repeat(501))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    /^The request body has invalid values; see details\.\n {2}note must have at most 500 characters\.\n\(invalid_body, request \S+\)\n$/,
  )
})

test('an unreachable service: the command prints the URL and exits with 75', async () => {
  const url = `http://127.0.0.1:${await freePort()}/v1`
  const args = ['pets', 'list', '--json', '--timeout', '60', '--url', url]
  const { code, stdout, stderr } = await petstore(args, { ...environment, ...WITHOUT_RETRIES })
  expect({ code, stdout }).toEqual({ code: EXIT_TRY_LATER, stdout: '' })
  expect(stderr).toContain('ECONNREFUSED')
  expect(stderr).toContain(`The address is ${url}. To change it, set PETSTORE_URL or --url.`)
  expect(stderr).toContain('(network_error, ')
})

test.runIf(process.platform === 'linux')(
  'a command on a terminal says that it waits for the service',
  async () => {
    const { environment: behind } = await behindFaultInjector(cli, { choose: () => 'hang before' })
    const { stdout } = await onTerminal('petstore inventory --timeout 4', { ...behind, NO_COLOR: '1' })
    const [first, second] = stdout.split('\r\n')
    expect(first).toBe(`Waiting for ${behind['PETSTORE_URL']} (timeout 4 s). Press Ctrl-C to stop.`)
    expect(second).toMatch(/^No response within \d+ ms\.$/)
    expect(stdout).toContain('(timeout, ')
  },
)

test('a command retries temporary errors of the service', async () => {
  const { run: runWithFaults, injector } = await behindFaultInjector(cli)
  injector.next('unavailable', 'reset before', 'overloaded')
  expect(await runWithFaults('inventory')).toMatchObject({ code: 0, stderr: '' })
  expect(injector.seen).toHaveLength(4)
})

test('a command exits with 75 if the service stays unavailable, and with 1 if another server responds', async () => {
  const { run: runWithFaults } = await behindFaultInjector(cli, { choose: () => 'unavailable' })
  const unavailable = await runWithFaults('inventory', '--timeout', '3')
  // The last attempt ends with the error of the service or with the timeout.
  expect(unavailable).toMatchObject({
    code: EXIT_TRY_LATER,
    stderr: expect.stringMatching(/\((unavailable|timeout), /),
  })
  const { origin: url, close } = await openLocalServer((_request, response) => {
    response.end('<h1>It works!</h1>')
  })
  afterAll(close)
  const { code, stderr } = await run('inventory', '--url', url)
  expect(code).toBe(1)
  expect(stderr).toContain(`The address is ${url}/v1. To change it`)
  expect(stderr).toContain('(unexpected_answer, ')
})

test('a lost response: the command says how to retry, and the retry adds no second pet', async () => {
  const { run: runWithFaults, injector } = await behindFaultInjector(cli)
  injector.next('hang after')
  const add = ['pets', 'add', 'Lost', '--category', '30']
  const lost = await runWithFaults(...add, '--timeout', '2')
  expect(lost).toMatchObject({ code: EXIT_TRY_LATER, stdout: '' })
  const [, key = ''] = /run the same command with --idempotency-key (\S+)$/m.exec(lost.stderr) ?? []
  const retried = await runWithFaults(...add, '--idempotency-key', key)
  expect(retried.code).toBe(0)
  expect(await api.sql(`select id::text from pets where name = 'Lost'`)).toEqual([
    { id: retried.stdout.trim() },
  ])
})

test('Ctrl-C ends a command by the signal and without output, so that a shell loop also ends', async () => {
  const { environment: behind, injector } = await behindFaultInjector(cli, { choose: () => 'hang before' })
  const command = startPetstore(['pets', 'list', '--all'], behind)
  await untilRequested(injector)
  command.kill('SIGINT')
  expect(await command.finished).toEqual({ code: null, signal: 'SIGINT', stdout: '', stderr: '' })
})

test('Ctrl-C during a change says how to retry it', async () => {
  const { environment: behind, injector } = await behindFaultInjector(cli, { choose: () => 'hang before' })
  const args = ['orders', 'place', '1', '--idempotency-key', 'mine']
  const command = startPetstore(args, behind)
  await untilRequested(injector)
  command.kill('SIGINT')
  const { signal, stderr } = await command.finished
  expect(signal).toBe('SIGINT')
  expect(stderr).toBe(
    'The change may have been made. To retry safely, run the same command with --idempotency-key mine\n',
  )
})

test('list exits with 0 and without a message if its reader, such as `head`, closes the pipe', async () => {
  await api.sql(
    `insert into pets (name, category_id) select repeat('x', 400), 31 from generate_series(1, 2000)`,
  )
  const { run: runObserved, environment: behind, injector } = await behindFaultInjector(cli)
  for (const json of ['', '--json']) {
    const line = `petstore pets list --category 31 --all ${json} | head -n 1; echo "\${PIPESTATUS[0]}"`
    const { stdout, stderr } = await shell(line, behind)
    expect(stdout.split('\n').slice(1)).toEqual(['0', ''])
    expect(stderr).toBe('')
  }
  // Neither command requested the whole list.
  expect(injector.seen.length).toBeLessThan(20)
  expect((await runObserved('pets', 'list', '--category', '31', '--all')).stdout.split('\n')).toHaveLength(
    2_002,
  )
})

test.runIf(process.platform === 'linux')('a command fails when the disk is full', async () => {
  const { code, stderr } = await shell('petstore pets list > /dev/full', environment)
  expect(code).toBe(1)
  expect(stderr).toContain('Cannot write the result (')
  expect(stderr).toContain('ENOSPC')
})

test('the JSON of an interrupted list does not parse, so that it is not mistaken for the whole list', async () => {
  const { run: runWithFaults } = await behindFaultInjector(cli, {
    choose: ({ path }) => (path.includes('cursor=') ? 'reset before' : 'none'),
  })
  await api.sql(`insert into pets (name, category_id) select 'x', 32 from generate_series(1, 101)`)
  const random = vi.spyOn(Math, 'random').mockReturnValue(LONG_PAUSE)
  onTestFinished(() => random.mockRestore())
  const { code, stdout } = await runWithFaults('pets', 'list', '--category', '32', '--all', '--json')
  expect(code).toBe(EXIT_TRY_LATER)
  expect(stdout.match(/^\{.*\}/gm)).toHaveLength(100)
  expect(() => JSON.parse(stdout) as unknown).toThrow(SyntaxError)
})

test.runIf(process.platform === 'linux')(
  'colours are for terminals only, and NO_COLOR turns them off',
  async () => {
    const { id } = await api.addPet({ name: 'Rex' })
    const line = `petstore pets get ${id}`
    const coloured = await onTerminal(line, environment)
    expect(coloured.stdout).toContain('\u001b[32mavailable\u001b[39m')
    const plain = await run('pets', 'get', String(id))
    const withNoColor = await onTerminal(line, { ...environment, NO_COLOR: '1' })
    expect(withNoColor.stdout.replaceAll('\r', '')).toBe(plain.stdout)
    expect(plain.stdout).not.toContain('\u001b')
  },
)

test('an unknown outcome: the command exits with 75, says how to retry, and does not print the API key', async () => {
  const { run: runWithFaults } = await behindFaultInjector(cli, { choose: () => 'outcome unknown after' })
  const args = ['pets', 'add', 'Key', '--category', '33', '--timeout', '3']
  const { code, stdout, stderr } = await runWithFaults(...args)
  expect({ code, stdout }).toEqual({ code: EXIT_TRY_LATER, stdout: '' })
  expect(stderr).toContain('run the same command with --idempotency-key ')
  expect(stderr).toMatch(/\((outcome_unknown|timeout), /)
  expect(stderr).not.toContain(PETSTORE_API_KEY.slice(14))
})
