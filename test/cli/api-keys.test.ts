import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { issueApiKey, startApp } from '../support/app.ts'
import { openTestClient, parseExactly } from '../support/client.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'
import { petstore, type Service, startService } from '../support/service.ts'

const DATABASE_URL = await createTestDatabase()
const db = openTestDatabase(DATABASE_URL)
const environment = { DATABASE_URL }

async function create(...options: string[]): Promise<string> {
  const { stdout } = await runInProcess(['api-keys', 'create', ...options], environment)
  return stdout.trim()
}

async function list(): Promise<Record<string, unknown>[]> {
  const { stdout } = await runInProcess(['api-keys', 'list', '--json'], environment)
  return JSON.parse(stdout) as Record<string, unknown>[]
}

test('create prints only the key on standard output, and its description on standard error', async () => {
  const created = await petstore(['api-keys', 'create', '--name', 'web-shop'], environment)
  expect(created.code).toBe(0)
  expect(created.stdout).toMatch(/^petstore_live_[0-9A-Za-z]{49}\n$/)
  expect(created.stderr).toContain('web-shop')
  expect(created.stderr).not.toContain(created.stdout.trim())
})

test('list --json prints every field of a key except the key text', async () => {
  const text = await create('--name', 'partner', '--scopes', 'pets:read,orders:read', '--expires', '90d')
  const all = await list()
  const listed = all.find(({ name }) => name === 'partner')
  const fields = Object.keys(listed ?? {}).join(' ')
  expect(fields).toBe('id actorId name kind scopes createdAt lastUsedAt expiresAt revokedAt')
  expect(listed).toMatchObject({ scopes: ['pets:read', 'orders:read'], lastUsedAt: null, revokedAt: null })
  const lifetime = Date.parse(String(listed?.['expiresAt'])) - Date.parse(String(listed?.['createdAt']))
  expect(lifetime).toBe(90 * 86_400_000)
  expect(JSON.stringify(all)).not.toContain(text.slice(14))
})

describe('with ids above 2^53,', () => {
  const ID = 2n ** 53n + 1n
  const opened = (async () => {
    const databaseUrl = await createTestDatabase()
    await sql(databaseUrl, `alter sequence api_keys_id_seq restart with ${ID}`)
    await issueApiKey(openTestDatabase(databaseUrl), { name: 'large' })
    return databaseUrl
  })()

  test('list --json prints every digit', async () => {
    const { stdout } = await runInProcess(['api-keys', 'list', '--json'], { DATABASE_URL: await opened })
    expect(parseExactly(stdout)).toMatchObject([{ id: ID, name: 'large' }])
  })

  test('list --deprecated shows the days until the removal of each operation', async () => {
    const databaseUrl = await opened
    const insert =
      'insert into deprecated_calls (api_key_id, operation, day, calls) values ($1, $2, now(), $3)'
    await sql(databaseUrl, insert, [ID, 'getPet', 2n ** 53n + 3n])
    await sql(databaseUrl, insert, [ID, 'otherOperation', 1])
    const args = ['api-keys', 'list', '--deprecated']
    const { stdout } = await runInProcess([...args, '--json'], { DATABASE_URL: databaseUrl })
    expect(parseExactly(stdout)).toMatchObject([
      { apiKeyId: ID, operation: 'getPet', calls: 2n ** 53n + 3n, daysLeft: expect.any(Number) },
      // This version of the service does not know when it is removed.
      { apiKeyId: ID, operation: 'otherOperation', calls: 1, daysLeft: null },
    ])
    const table = await runInProcess(args, { DATABASE_URL: databaseUrl })
    expect(table.stdout).toMatch(new RegExp(`^${ID} +large +otherOperation .* -$`, 'm'))
  })
})

test('create counts the characters of a name as the API does', async () => {
  const name = '🐕'.repeat(100)
  expect(await create('--name', name)).toMatch(/^petstore_live_/)
  expect((await list()).map((listed) => listed['name'])).toContain(name)
})

test('list escapes control characters in the name of a key and aligns its columns', async () => {
  await issueApiKey(db, { name: '小狗\u001b[2J' })
  const { stdout } = await runInProcess(['api-keys', 'list'], environment)
  const [head = '', ...rows] = stdout.split('\n')
  const row = rows.find((line) => line.includes('小狗\\u001b[2J')) ?? ''
  // Each of the two characters of the name is two columns wide.
  expect(row.indexOf('pets:read')).toBe(head.indexOf('SCOPES') - 2)
})

test('a key created in staging starts with petstore_test_', async () => {
  const created = await runInProcess(['api-keys', 'create', '--name', 'qa'], {
    ...environment,
    PETSTORE_ENV: 'staging',
  })
  expect(created.stdout).toMatch(/^petstore_test_/)
})

const countKeys = () => sql(DATABASE_URL, 'select count(*) from api_keys')

test.each([
  [['create'], "required option '--name <name>'"],
  [['revoke', '999999'], 'No valid key has the id 999999'],
  [['rotate', '999999'], 'No valid key has the id 999999'],
  [['rename', '999999', '--name', 'x'], 'No key of a program has the id 999999'],
  [['rename', '999999', '--name', 'Petstore'], 'stands for the service itself'],
  [['create', '--name', ''], '1 to 100 characters'],
  [['create', '--name', '🐕'.repeat(101)], '1 to 100 characters'],
  [['create', '--name', 'Petstore'], 'stands for the service itself'],
  [['create', '--name', 'x', '--scopes', 'pets:fly'], 'pets:read, pets:write'],
  [['create', '--name', 'x', '--expires', 'soon'], '90d, 24h, 30m or 60s'],
  [['create', '--name', 'x', '--rate-limit', '0'], 'from 1 to 1000000'],
  [['revoke', 'x'], 'a whole number above 0'],
])('api-keys %j fails, explains the mistake and changes nothing', async (args, explanation) => {
  const before = await countKeys()
  const { code, stdout, stderr } = await runInProcess(['api-keys', ...args], environment)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(explanation)
  expect(await countKeys()).toEqual(before)
})

/** The instance that the tests below share. The last test stops it. */
let running: Promise<Service> | undefined
const instance = () => (running ??= startService(environment))

test('two running instances reject a revoked key within a second (401)', async () => {
  const { id, text: apiKey } = await issueApiKey(db)
  const instances = await Promise.all([instance(), startApp(db)])
  const clients = instances.map(({ origin }) => openTestClient({ origin, apiKey }))
  const statuses = () => Promise.all(clients.map(async (client) => (await client.get('/pets')).status))
  expect(await statuses()).toEqual([200, 200])
  // Requests without a pause keep the key in the cache of each instance until it is revoked.
  const revoking = new AbortController()
  const requests = (async () => {
    while (!revoking.signal.aborted) await statuses()
  })()
  await runInProcess(['api-keys', 'revoke', String(id)], environment)
  revoking.abort()
  await requests
  // A busy host makes this pause longer, never shorter.
  await sleep(1_000)
  expect(await statuses()).toEqual([401, 401])
})

test('rotate creates a successor with the same scopes; the old key works until the overlap ends', async () => {
  const { id, text: old } = await issueApiKey(db, {
    name: 'rotating',
    scopes: ['pets:read'],
    rateLimit: 7,
    expiresInSeconds: 10 * 86_400,
  })
  const rotated = await runInProcess(['api-keys', 'rotate', String(id), '--overlap', '2h'], environment)
  const successor = rotated.stdout.trim()
  expect(rotated.stdout).toMatch(/^petstore_live_[0-9A-Za-z]{49}\n$/)

  const rows = await sql(
    DATABASE_URL,
    `select scopes, rate_limit, round(extract(epoch from expires_at - now()) / 3600)::int as hours_left
      from api_keys join actors on actors.id = actor_id where name = 'rotating' order by api_keys.id`,
  )
  expect(rows).toEqual([
    { scopes: ['pets:read'], rate_limit: 7, hours_left: 2 },
    { scopes: ['pets:read'], rate_limit: 7, hours_left: 240 },
  ])

  const { origin } = await instance()
  for (const apiKey of [old, successor]) {
    expect((await openTestClient({ origin, apiKey }).get('/pets')).status).toBe(200)
  }
})

test('rename renames the program of a key, and tells its new name', async () => {
  const { id } = await issueApiKey(db, { name: 'before' })
  const renamed = await runInProcess(['api-keys', 'rename', String(id), '--name', 'after'], environment)
  expect(renamed).toMatchObject({ code: 0, stdout: '' })
  expect(renamed.stderr).toBe(`The program of key ${id} is now called after.\n`)
  expect((await list()).find((key) => Number(key['id']) === Number(id))).toMatchObject({ name: 'after' })
})

test('the service saves when a key was last used, at the latest when it stops', async () => {
  const { text: apiKey } = await issueApiKey(db, { name: 'used' })
  const service = await instance()
  const before = Date.now()
  await openTestClient({ origin: service.origin, apiKey }).get('/pets')
  await service.stop()
  const used = (await list()).find(({ name }) => name === 'used')
  expect(Date.parse(String(used?.['lastUsedAt']))).toBeGreaterThanOrEqual(before)
})
