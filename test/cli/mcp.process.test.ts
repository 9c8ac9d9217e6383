// `petstore mcp` as a process: the protocol on standard input and output, how it starts, and how it ends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { Client, type ClientOptions } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, expect, test } from 'vitest'
import { issueApiKey } from '../support/app.ts'
import { CHECKS_FIGURES } from '../support/figures.ts'
import { cleanEnvironment, EXECUTABLE, petstore } from '../support/service.ts'
import { openCliFixture } from './fixture.ts'
import { STAFF_SCOPES } from './mcp-fixture.ts'

const { api, environment } = await openCliFixture()

const START_MS_MAX = 1_000
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' }

async function connect(options: ClientOptions = {}, args: string[] = []): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, options)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [EXECUTABLE, 'mcp', ...args],
    env: cleanEnvironment(environment),
    stderr: 'ignore',
  })
  await client.connect(transport)
  afterAll(() => client.close())
  return client
}

/** Starts the command with these messages as its input, and returns its output after `responses` lines. */
async function converse(messages: (object | string)[], responses: number, args: string[] = []) {
  const child = spawn(process.execPath, [EXECUTABLE, 'mcp', ...args], { env: cleanEnvironment(environment) })
  const stderr = text(child.stderr)
  const ended = once(child, 'close')
  child.stdin.write(
    messages
      .map((message) => `${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
      .join(''),
  )
  if (responses === 0) child.stdin.end()
  let stdout = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    stdout += chunk
    if (stdout.split('\n').length > responses) child.stdin.end()
  }
  const [code] = await ended
  return { code, stdout, stderr: await stderr }
}

test.each<ClientOptions>([
  { versionNegotiation: { mode: 'legacy' } },
  { versionNegotiation: { mode: { pin: '2026-07-28' } } },
])('serves clients of both versions of the protocol: %o', async (options) => {
  const client = await connect(options)
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('sell_pet')
  const pet = await api.addPet({ name: 'Wire' })
  const { structuredContent } = await client.callTool({
    name: 'hold_pet',
    arguments: { petId: String(pet.id), note: 'Ms Okafor' },
  })
  expect(structuredContent).toMatchObject({ hold: { petName: 'Wire', status: 'open' } })
  expect(client.getServerVersion()).toMatchObject({ name: 'petstore' })
})

test('--read-only hides the tools that change something', async () => {
  const client = await connect({}, ['--read-only'])
  const { tools } = await client.listTools()
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
  await expect(
    client.callTool({ name: 'add_pet', arguments: { name: 'x', categoryId: '1' } }),
  ).rejects.toThrow('not found')
})

test('standard output has one JSON message per line and nothing else, also after input that is no message', async () => {
  await api.addPet({ name: 'two\nlines \u2028' })
  const { code, stdout, stderr } = await converse(
    [
      INITIALIZE,
      INITIALIZED,
      'this is not JSON',
      { message: 'of another protocol' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'find_pets', arguments: { limit: 5 } } },
      { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'no_such_tool', arguments: {} } },
      {
        jsonrpc: '2.0',
        id: 4,
        method: 'tools/call',
        params: { name: 'find_pets', arguments: { limit: -1 } },
      },
      { jsonrpc: '2.0', id: 5, method: 'no/such/method' },
    ],
    5,
  )
  const lines = stdout.split('\n')
  expect(lines.pop()).toBe('')
  const messages = lines.map((line) => JSON.parse(line) as { jsonrpc: string; id: number })
  expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true)
  expect(new Set(messages.map(({ id }) => id))).toEqual(new Set([1, 2, 3, 4, 5]))
  expect(messages).toHaveLength(5)
  expect(code).toBe(0)
  expect(stderr).not.toBe('')
  expect(stderr).not.toContain(environment['PETSTORE_API_KEY']?.slice(14))
})

test('ends with 0 when standard input ends, before and after the first message', async () => {
  expect(await converse([INITIALIZE], 1)).toMatchObject({ code: 0, stderr: '' })
  expect(await converse([], 0)).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('a revoked key: the command says what to check on standard error, prints nothing else, and exits with 1', async () => {
  const { id, text: apiKey } = await issueApiKey(api.db, { scopes: STAFF_SCOPES })
  await api.remove(`/api-keys/${id}`)
  const { code, stdout, stderr } = await petstore(['mcp'], { ...environment, PETSTORE_API_KEY: apiKey })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^The API key is not valid\..*\nCheck PETSTORE_API_KEY/)
})

test('a key that allows no tool: the command names its scopes and exits with 1', async () => {
  const { text: apiKey } = await issueApiKey(api.db, { scopes: ['webhooks:read'] })
  const { code, stdout, stderr } = await petstore(['mcp'], { ...environment, PETSTORE_API_KEY: apiKey })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('The API key has the scopes webhooks:read, which allow no tool.')
})

test('an unreachable service: the command prints the URL and exits with 75', async () => {
  const args = ['mcp', '--url', 'http://127.0.0.1:9', '--timeout', '1']
  const { code, stdout, stderr } = await petstore(args, environment)
  expect({ code, stdout }).toEqual({ code: 75, stdout: '' })
  expect(stderr).toContain('The address is http://127.0.0.1:9/v1.')
})

test.runIf(CHECKS_FIGURES)('responds within a second of its start', async () => {
  // The first start fills the cache of compiled code.
  await converse([INITIALIZE], 1)
  const started = performance.now()
  await converse([INITIALIZE], 1)
  expect(performance.now() - started).toBeLessThan(START_MS_MAX)
})
