// What every command that calls a running service promises, whichever it is: where it asks, how it is refused, and how
// it ends when the service, the network, the reader or the person goes away.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { issueApiKey } from '../support/app.ts'
import type { FaultInjector } from '../support/fault-injector.ts'
import { onTerminal, petstore, shell, startPetstore } from '../support/service.ts'
import { behindFaultInjector, openCliFixture } from './fixture.ts'

const cli = await openCliFixture()
const { run, api, environment } = cli
const { PETSTORE_API_KEY = '' } = environment

const EXIT_TRY_LATER = 75

async function untilSeen({ seen }: FaultInjector): Promise<void> {
  while (seen.length === 0) await sleep(20)
}

/** An address of this machine at which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

test('without a key it says what to do, and asks nobody', async () => {
  const { code, stdout, stderr } = await petstore(['inventory'], { PETSTORE_API_KEY: ' ' })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('PETSTORE_API_KEY is not set; ask whoever runs the service for a key')
})

test('an address or a key that cannot be right is refused without being repeated', async () => {
  const faulty = {
    PETSTORE_URL: 'http://me:hunter2@127.0.0.1/v1',
    PETSTORE_API_KEY: 'petstore_live_\u00a0hunter3',
  }
  const { code, stdout, stderr } = await petstore(['inventory'], faulty)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('PETSTORE_URL (or --url) must look like https://')
  expect(stderr).toContain('PETSTORE_API_KEY has characters that no API key has')
  expect(stderr).not.toMatch(/hunter/)
  const given = await petstore(['inventory', '--url', 'me:hunter2@127.0.0.1:3000'], environment)
  expect(given).toMatchObject({ code: 1, stderr: expect.stringContaining('(or --url) must look like') })
  expect(given.stderr).not.toMatch(/hunter/)
})

test('--url goes before PETSTORE_URL, and an origin alone is enough', async () => {
  const elsewhere = { ...environment, PETSTORE_URL: 'http://127.0.0.1:9/v1' }
  const asked = await petstore(['inventory', '--json', '--url', api.origin], elsewhere)
  expect(asked).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(asked.stdout)).toHaveProperty('available')
})

test('a key that the service does not know: what to look at, and not a digit of it', async () => {
  const wrong = `${PETSTORE_API_KEY.slice(0, -8)}AAAAAAAA`
  const { code, stdout, stderr } = await petstore(['pets', 'list'], {
    ...environment,
    PETSTORE_API_KEY: wrong,
  })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    /^The API key is not valid\.\nSee that PETSTORE_API_KEY .*\n\(invalid_api_key, request \S+\)\n$/,
  )
  expect(stderr).not.toContain(wrong.slice(14, 30))
})

test('a key that may not: which scope it lacks', async () => {
  const { text } = await issueApiKey(api.db, { scopes: ['pets:read'] })
  const args = ['pets', 'add', 'Rex', '--category', '1']
  const { code, stderr } = await petstore(args, { ...environment, PETSTORE_API_KEY: text })
  expect(code).toBe(1)
  expect(stderr).toContain('This needs pets:write: ask for a key that has it.\n(insufficient_scope, ')
})

test('every fault of a request on a line of its own', async () => {
  const { code, stdout, stderr } = await run('orders', 'place', '1', '--note', 'x'.repeat(501))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    /^The request body has invalid values; see details\.\n {2}note must have at most 500 characters\.\n\(invalid_body, request \S+\)\n$/,
  )
})

test('nobody listens: it says where it asked, and ends with 75', async () => {
  const url = `http://127.0.0.1:${await closedPort()}/v1`
  const { code, stdout, stderr } = await run('pets', 'list', '--json', '--timeout', '1', '--url', url)
  expect({ code, stdout }).toEqual({ code: EXIT_TRY_LATER, stdout: '' })
  expect(stderr).toContain('ECONNREFUSED')
  expect(stderr).toContain(`Asked ${url}; another address: PETSTORE_URL or --url.`)
  expect(stderr).toContain('(network_error, ')
})

test.runIf(process.platform === 'linux')(
  'a service that is silent: a person is told of the wait',
  async () => {
    const { environment: behind } = await behindFaultInjector(cli, { choose: () => 'hang before' })
    const { stdout } = await onTerminal('petstore inventory --timeout 4', { ...behind, NO_COLOR: '1' })
    const [first, second] = stdout.split('\r\n')
    expect(first).toBe(`Waiting for ${behind['PETSTORE_URL']}, 4 s at most; Ctrl-C ends it.`)
    expect(second).toMatch(/^No answer within \d+ ms\.$/)
    expect(stdout).toContain('(timeout, ')
  },
)

test('a service that cannot for a moment is asked again', async () => {
  const { run: ask, injector } = await behindFaultInjector(cli)
  injector.next('unavailable', 'reset before', 'overloaded')
  expect(await ask('inventory')).toMatchObject({ code: 0, stderr: '' })
  expect(injector.seen).toHaveLength(4)
})

test('one that cannot at all ends it with 75, and what is no Petstore with 1', async () => {
  const { run: ask } = await behindFaultInjector(cli, { choose: () => 'unavailable' })
  const busy = await ask('inventory', '--timeout', '3')
  // The last attempt may have had no time left.
  expect(busy).toMatchObject({
    code: EXIT_TRY_LATER,
    stderr: expect.stringMatching(/\((unavailable|timeout), /),
  })
  const stranger = createServer((_request, response) => response.end('<h1>It works!</h1>')).listen(
    0,
    '127.0.0.1',
  )
  await once(stranger, 'listening')
  afterAll(() => stranger.close())
  const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
  const { code, stderr } = await run('inventory', '--url', url)
  expect(code).toBe(1)
  expect(stderr).toContain(`Asked ${url}/v1; another address`)
  expect(stderr).toContain('(unexpected_answer, ')
})

test('an answer that got lost: it says how to repeat, and repeating adds no second animal', async () => {
  const { run: ask, injector } = await behindFaultInjector(cli)
  injector.next('hang after')
  const add = ['pets', 'add', 'Lost', '--category', '30']
  const lost = await ask(...add, '--timeout', '2')
  expect(lost).toMatchObject({ code: EXIT_TRY_LATER, stdout: '' })
  const [, key = ''] =
    /Repeat the command with --idempotency-key (\S+): nothing is done twice\./.exec(lost.stderr) ?? []
  const repeated = await ask(...add, '--idempotency-key', key)
  expect(repeated.code).toBe(0)
  expect(await api.sql(`select id::text from pets where name = 'Lost'`)).toEqual([
    { id: repeated.stdout.trim() },
  ])
})

test('Ctrl-C ends it quietly, by the signal itself, so that a loop of a shell ends too', async () => {
  const { environment: behind, injector } = await behindFaultInjector(cli, { choose: () => 'hang before' })
  const command = startPetstore(['pets', 'list', '--all'], behind)
  await untilSeen(injector)
  command.kill('SIGINT')
  expect(await command.finished).toEqual({ code: null, signal: 'SIGINT', stdout: '', stderr: '' })
})

test('Ctrl-C in the middle of a change says how to repeat it', async () => {
  const { environment: behind, injector } = await behindFaultInjector(cli, { choose: () => 'hang before' })
  const args = ['orders', 'place', '1', '--idempotency-key', 'mine']
  const command = startPetstore(args, behind)
  await untilSeen(injector)
  command.kill('SIGINT')
  const { signal, stderr } = await command.finished
  expect(signal).toBe('SIGINT')
  expect(stderr).toBe(
    'It may have been done all the same. Repeat the command with --idempotency-key mine: nothing is done twice.\n',
  )
})

test('a reader that has seen enough, as `head` does, ends it quietly', async () => {
  await api.sql(
    `insert into pets (name, category_id) select repeat('x', 400), 31 from generate_series(1, 2000)`,
  )
  const { run: ask, environment: behind, injector } = await behindFaultInjector(cli)
  for (const json of ['', '--json']) {
    const line = `petstore pets list --category 31 --all ${json} | head -n 1; echo "\${PIPESTATUS[0]}"`
    const { stdout, stderr } = await shell(line, behind)
    expect(stdout.split('\n').slice(1)).toEqual(['0', ''])
    expect(stderr).toBe('')
  }
  // It did not read to the end for nobody.
  expect(injector.seen.length).toBeLessThan(20)
  expect((await ask('pets', 'list', '--category', '31', '--all')).stdout.split('\n')).toHaveLength(2_002)
})

test.runIf(process.platform === 'linux')('a disk that is full is a failure', async () => {
  const { code, stderr } = await shell('petstore pets list > /dev/full', environment)
  expect(code).toBe(1)
  expect(stderr).toContain('The result cannot be written (')
  expect(stderr).toContain('ENOSPC')
})

test('a walk that breaks off is no complete JSON', async () => {
  const { run: ask } = await behindFaultInjector(cli, {
    choose: ({ path }) => (path.includes('cursor=') ? 'reset before' : 'none'),
  })
  await api.sql(`insert into pets (name, category_id) select 'x', 32 from generate_series(1, 101)`)
  const { code, stdout } = await ask('pets', 'list', '--category', '32', '--all', '--json', '--timeout', '5')
  expect(code).toBe(EXIT_TRY_LATER)
  expect(stdout.match(/^\{.*\}/gm)).toHaveLength(100)
  expect(() => JSON.parse(stdout) as unknown).toThrow(SyntaxError)
})

test.runIf(process.platform === 'linux')(
  'colours are for terminals alone, and NO_COLOR is heard',
  async () => {
    const { id } = await api.addPet({ name: 'Rex' })
    expect((await onTerminal(`petstore pets get ${id}`, environment)).stdout).toContain(
      '\u001b[32mavailable\u001b[39m',
    )
    const plain = await run('pets', 'get', String(id))
    expect(
      (await onTerminal(`petstore pets get ${id}`, { ...environment, NO_COLOR: '1' })).stdout.replaceAll(
        '\r',
        '',
      ),
    ).toBe(plain.stdout)
    expect(plain.stdout).not.toContain('\u001b')
  },
)

test('an outcome that the service itself does not know: 75, how to repeat, and not a digit of the key', async () => {
  const { run: ask } = await behindFaultInjector(cli, { choose: () => 'outcome unknown after' })
  const { code, stdout, stderr } = await ask('pets', 'add', 'Key', '--category', '33', '--timeout', '3')
  expect({ code, stdout }).toEqual({ code: EXIT_TRY_LATER, stdout: '' })
  expect(stderr).toContain('Repeat the command with --idempotency-key ')
  expect(stderr).toMatch(/\((outcome_unknown|timeout), /)
  expect(stderr).not.toContain(PETSTORE_API_KEY.slice(14))
})
