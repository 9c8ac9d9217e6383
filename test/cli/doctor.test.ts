import { Client } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkClock } from '../../src/cli/doctor/clock.ts'
import { createTestDatabase, sql, untilBlocked } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'
import { asDelivery, asOwner, asSuperuser, asVerifier, makeRoles, prepareDatabase } from '../support/roles.ts'
import { onTerminal, petstore, shell } from '../support/service.ts'

interface Finding {
  check: string
  state: string
  message: string
  remedy?: string
}

async function examine(environment: Record<string, string>, run: typeof petstore = runInProcess) {
  const { code, stdout } = await run(['doctor', '--json'], environment)
  return { code, found: JSON.parse(stdout) as Finding[] }
}

const examineFor = async (check: string, environment: Record<string, string>) => {
  const { code, found } = await examine(environment)
  return { code, ...found.find((finding) => finding.check === check) }
}

/** The test server has `synchronous_commit` off, which is faster. */
async function createDurableDatabase(): Promise<string> {
  const databaseUrl = await createTestDatabase()
  await sql(
    databaseUrl,
    `alter database ${new URL(databaseUrl).pathname.slice(1)} set synchronous_commit = on`,
  )
  return databaseUrl
}

/** For tests that change nothing that the doctor reports. */
const valid = await createDurableDatabase()

test('reports ok for every check of a valid installation and exits with 0', async () => {
  await sql(
    valid,
    `insert into restore_checks (is_proven, duration_ms, message) values (true, 1000, '11 checks done')`,
  )
  const { code, found } = await examine({ DATABASE_URL: valid }, petstore)
  expect(code).toBe(0)
  const checks = found.map(({ check }) => check).join(' ')
  expect(checks).toBe(
    'configuration database pooler encryption schema privileges roles owners collations connections planner replication archiving waits settings webhooks events holds api-keys deprecations restores clock',
  )
  expect(found.filter(({ state }) => state !== 'ok')).toEqual([])
})

test('warns about settings that a role has given itself, and functions that it does not need, until deploy/roles.sql runs', async () => {
  const databaseUrl = await createTestDatabase()
  const name = new URL(databaseUrl).pathname.slice(1)
  // Only for this database, because all tests share the roles.
  for (const url of [databaseUrl, asVerifier(databaseUrl)]) {
    const own = new Client(url)
    await own.connect()
    for (const setting of [`search_path = 'other'`, 'synchronous_commit = off'])
      await own.query(`alter role current_user in database ${name} set ${setting}`)
    await own.end()
  }
  await sql(
    databaseUrl,
    'grant execute on function lo_create(oid), pg_advisory_lock(bigint) to petstore_app, petstore_verify',
  )
  const differences = 'has the settings search_path=other, synchronous_commit=off, and can use large objects'
  // The service does need advisory locks.
  expect(await examineFor('roles', { DATABASE_URL: asOwner(databaseUrl) })).toMatchObject({
    state: 'warning',
    message: `the role petstore_app ${differences}, which it does not need; the role petstore_verify ${differences} and advisory locks, which it does not need`,
    remedy: expect.stringContaining('run deploy/roles.sql again'),
  })
  await sql(
    databaseUrl,
    `revoke execute on function lo_create(oid), pg_advisory_lock(bigint) from petstore_app, petstore_verify;
    grant execute on function lo_create(oid), pg_advisory_lock(bigint) to public`,
  )
  await makeRoles(asSuperuser(databaseUrl))
  expect(await examineFor('roles', { DATABASE_URL: databaseUrl })).toMatchObject({ state: 'ok' })
})

test('warns about prices in another currency of pets that are not sold, and says what to do', async () => {
  const databaseUrl = await createDurableDatabase()
  await sql(
    databaseUrl,
    `insert into pets (name, category_id, status) values ('Rex', 1, 'sold'), ('Ida', 1, 'available')`,
  )
  const setPrice = (id: number) =>
    sql(databaseUrl, `insert into pet_profiles (pet_id, price, currency) values ($1, 129.00, 'USD')`, [id])
  const examined = () => examineFor('settings', { DATABASE_URL: databaseUrl })
  await setPrice(1)
  expect(await examined()).toMatchObject({
    state: 'ok',
    message: 'prices are in EUR, and days begin in Europe/Berlin',
  })
  await setPrice(2)
  expect(await examined()).toMatchObject({
    state: 'warning',
    message: 'the currency of the shop is EUR, but pets have prices in USD (such as pet 2)',
    remedy: expect.stringMatching(/^Set a new price/),
  })
})

test.each([
  ['CURRENCY', 'USD', 'EUR'],
  ['TIME_ZONE', 'Asia/Tokyo', 'Europe/Berlin'],
])('warns if %s differs from the stored setting, which counts', async (name, given, stored) => {
  const databaseUrl = await createDurableDatabase()
  const examined = (value: string) => examineFor('settings', { DATABASE_URL: databaseUrl, [name]: value })
  expect(await examined(stored)).toMatchObject({ state: 'ok' })
  expect(await examined(given)).toMatchObject({
    state: 'warning',
    message: `${name} is ${given}, but the shop has ${stored}, which counts`,
    remedy: expect.stringContaining(`Remove it or set ${name}=${stored}`),
  })
})

test('warns about a role whose statements PostgreSQL plans at each execution', async () => {
  expect(await examineFor('planner', { DATABASE_URL: asSuperuser(valid) })).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('plan_cache_mode = auto'),
    remedy: 'Run deploy/roles.sql again.',
  })
})

test.each([
  ['no URL with another host', {}, 'ok', 'no connection leaves this host'],
  [
    'an encrypted connection to another host',
    { MIGRATION_DATABASE_URL: 'postgres://petstore_migrator@db.example/petstore?sslmode=require' },
    'ok',
    'all connections to other hosts are encrypted',
  ],
  [
    'a plain connection to another host',
    { MIGRATION_DATABASE_URL: 'postgres://petstore_migrator@db.example/petstore' },
    'warning',
    'MIGRATION_DATABASE_URL connects to db.example without encryption',
  ],
  [
    'a plain connection to another host whose name begins like a loopback address',
    { MIGRATION_DATABASE_URL: 'postgres://petstore_migrator@127.example.com/petstore' },
    'warning',
    'MIGRATION_DATABASE_URL connects to 127.example.com without encryption',
  ],
])('reports the encryption of %s', async (_what, settings, state, message) => {
  expect(await examineFor('encryption', { DATABASE_URL: valid, ...settings })).toMatchObject({
    state,
    message,
  })
})

test.each([
  ['behind', -3_000, 'differ by 3 s'],
  ['behind, within the limit', -1_000, 'in sync'],
  ['ahead, after a query that took 10 s', 14_000, 'differ by 4 s'],
  ['the same, although a query took 10 s', 10_000, 'in sync'],
])('the clock of the database is %s', async (_what, aheadMs, message) => {
  const times = [1_000_000, 1_010_000]
  const client = { query: async () => ({ rows: [{ now: new Date(1_000_000 + aheadMs) }] }) } as never
  expect((await checkClock(client, () => times.shift() ?? 0)).message).toContain(message)
})

test('names each invalid variable', async () => {
  const { code, found } = await examine({ PORT: 'x' })
  expect(code).toBe(1)
  expect(found.map(({ message }) => message.split(' ')[0])).toEqual(['DATABASE_URL', 'PORT'])
})

test('reports an unreachable database and which setting to check', async () => {
  const { code, found } = await examine({ DATABASE_URL: 'postgres://petstore@127.0.0.1:1/none' })
  expect(code).toBe(1)
  expect(found.at(-1)).toMatchObject({ check: 'database', state: 'fault' })
  expect(found.at(-1)?.remedy).toContain('DATABASE_URL')
})

test('reports a connection limit that is reached, and where to read it', async () => {
  const databaseUrl = await createTestDatabase()
  await sql(databaseUrl, `alter database ${new URL(databaseUrl).pathname.slice(1)} connection limit 0`)
  const { code, found } = await examine({ DATABASE_URL: databaseUrl })
  expect(code).toBe(1)
  expect(found.at(-1)?.message).toContain('too many connections')
  expect(found.at(-1)?.remedy).toContain('rolconnlimit')
})

test('reports an empty database and says to migrate it', async () => {
  const { code, found } = await examine({ DATABASE_URL: await createTestDatabase('empty') })
  expect(code).toBe(1)
  expect(found.find(({ check }) => check === 'schema')?.remedy).toBe('Run: petstore migrate')
})

test('migrate rejects a database whose encoding is not UTF-8, and says how to create one with UTF-8', async () => {
  const name = `${new URL(valid).pathname.slice(1)}_ascii`
  await sql(
    valid,
    `create database ${name} template template0 encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C'`,
  )
  const url = new URL(asOwner(valid))
  url.pathname = name
  const { code, stderr } = await runInProcess(['migrate'], { DATABASE_URL: url.href })
  await sql(valid, `drop database ${name} with (force)`)
  expect(code).toBe(1)
  expect(stderr).toContain('has the encoding SQL_ASCII')
  expect(stderr).toContain("encoding 'UTF8'")
})

const privilegesOf = (DATABASE_URL: string) => examineFor('privileges', { DATABASE_URL })

test('reports each missing privilege, and what to run', async () => {
  const databaseUrl = await createTestDatabase()
  await sql(databaseUrl, 'revoke update on orders from petstore_app; revoke insert on pets from petstore_app')
  expect(await privilegesOf(databaseUrl)).toMatchObject({
    code: 1,
    state: 'fault',
    message: 'the role petstore_app lacks update on orders, insert on pets',
    remedy: 'Run: petstore migrate',
  })
  await sql(databaseUrl, 'revoke select (expires_at) on webhook_secrets from petstore_app')
  expect(await privilegesOf(databaseUrl)).toMatchObject({
    message: expect.stringMatching(/, select \(expires_at\) on webhook_secrets$/),
  })
  await runInProcess(['migrate'], { DATABASE_URL: asOwner(databaseUrl) })
  expect(await privilegesOf(databaseUrl)).toMatchObject({ code: 0, state: 'ok' })
})

test('reports privileges that the service does not need as a fault, and says what to run', async () => {
  const databaseUrl = await createTestDatabase()
  await sql(
    databaseUrl,
    `grant delete on pet_history to petstore_app; grant select (secret) on webhook_secrets to petstore_app;
      grant create on schema public to petstore_app`,
  )
  expect(await privilegesOf(databaseUrl)).toMatchObject({
    code: 1,
    state: 'fault',
    message:
      'the role petstore_app has privileges that the service does not need: create on the schema, delete on pet_history, select (secret) on webhook_secrets',
    remedy: expect.stringMatching(/^Run: petstore migrate\./),
  })
  expect(await privilegesOf(asOwner(databaseUrl))).toMatchObject({
    code: 0,
    state: 'warning',
    message: 'the role petstore_migrator can change the schema, which the service does not need',
  })
})

test('checks the role of petstore deliver against the privileges that it needs', async () => {
  const databaseUrl = await createDurableDatabase()
  const deliveryUrl = asDelivery(databaseUrl)
  const { code, found } = await examine({ DATABASE_URL: deliveryUrl })
  expect(code).toBe(0)
  expect(found.filter(({ state }) => state !== 'ok')).toEqual([])
  expect(found.find(({ check }) => check === 'privileges')?.message).toBe(
    'the role petstore_deliver has the privileges that `petstore deliver` needs, and cannot change the schema',
  )
  expect(await connectionsOf(deliveryUrl, '51')).toMatchObject({
    state: 'warning',
    message:
      'the role petstore_deliver accepts 50 connections, fewer than DATABASE_POOL_SIZE = 51: under load, webhooks are delivered late',
  })
  await sql(databaseUrl, 'grant select on pets to petstore_deliver')
  expect(await privilegesOf(deliveryUrl)).toMatchObject({
    code: 1,
    state: 'fault',
    message: 'the role petstore_deliver has privileges that `petstore deliver` does not need: select on pets',
  })
  await sql(databaseUrl, 'revoke select on webhook_secrets from petstore_deliver')
  expect(await privilegesOf(deliveryUrl)).toMatchObject({
    code: 1,
    state: 'fault',
    message: 'the role petstore_deliver lacks select on webhook_secrets',
  })
})

test('warns about enabled webhooks that no process delivers, and says what to start', async () => {
  const databaseUrl = await createTestDatabase()
  const webhooks = () => examineFor('webhooks', { DATABASE_URL: databaseUrl })
  expect(await webhooks()).toMatchObject({ state: 'ok', message: 'no webhook is enabled' })
  await sql(
    databaseUrl,
    `insert into webhooks (url, types, epoch, number, leased_until, disabled_reason, disabled_at)
      values ('https://one.example', '{pet.created}', 'x', 0, now() + interval '1 hour', null, null),
        ('https://two.example', '{pet.created}', 'x', 0, now() - interval '1 s', null, null),
        ('https://three.example', '{pet.created}', 'x', 0, null, null, null),
        ('https://four.example', '{pet.created}', 'x', 0, null, 'failing', now())`,
  )
  expect(await webhooks()).toMatchObject({
    code: 0,
    state: 'warning',
    message: 'no process delivers 2 of 3 enabled webhooks',
    remedy: 'Start petstore deliver. If it is running, read its log.',
  })
  await sql(databaseUrl, `update webhooks set leased_until = now() + interval '1 hour'`)
  expect(await webhooks()).toMatchObject({
    state: 'ok',
    message: '3 enabled webhooks, all with a process that delivers',
  })
  // Without the privilege, the check of the privileges reports the problem.
  await sql(databaseUrl, 'revoke select on webhooks from petstore_app')
  expect(await webhooks()).toEqual({ code: 1 })
  expect(await privilegesOf(databaseUrl)).toMatchObject({
    message: 'the role petstore_app lacks select on webhooks',
  })
})

test('warns about late events and overdue holds, under the limits of their alerts, and says what to start', async () => {
  const databaseUrl = await createDurableDatabase()
  await sql(databaseUrl, `insert into pets (name, category_id) values ('Rex', 1), ('Ida', 1)`)
  await sql(
    databaseUrl,
    `insert into orders (pet_id, placed_by, created_at, expires_at)
      select id, 1, now() - interval '1 day', now() - interval '11 s' from pets where name = 'Rex'`,
  )
  await sql(databaseUrl, `update outbox set at = now() - interval '11 s'`)
  const { code, found } = await examine({ DATABASE_URL: databaseUrl })
  expect(code).toBe(0)
  expect(found.filter(({ check }) => check === 'events' || check === 'holds')).toEqual([
    {
      check: 'events',
      state: 'warning',
      message: expect.stringMatching(/^the oldest change without an event is \d+ (?:second|minute)s old$/),
      remedy: expect.stringMatching(/^Start petstore serve.* See "Events or webhooks are late" in docs/),
    },
    {
      check: 'holds',
      state: 'warning',
      message: expect.stringMatching(/^the oldest expired hold is \d+ (?:second|minute)s overdue, and/),
      remedy: expect.stringMatching(/^Start petstore serve.* See "Expired holds are not swept" in docs/),
    },
  ])
})

test('warns about the key of a program that expires within 7 days, and about a called operation that is removed within 90', async () => {
  const databaseUrl = await createTestDatabase()
  onTestFinished(() => void vi.useRealTimers())
  const warningsAt = async (date: Date) => {
    vi.useFakeTimers({ toFake: ['Date'], now: date })
    const { found } = await examine({ DATABASE_URL: databaseUrl })
    return found
      .filter(({ check, state }) => ['api-keys', 'deprecations'].includes(check) && state !== 'ok')
      .map(({ message, remedy }) => `${message}. ${remedy}`)
  }
  const before = (time: string, days: number) => new Date(Date.parse(time) - days * 86_400_000)
  const [expiry, removal] = ['2029-06-01T00:00:00Z', '2030-12-05T00:00:00Z']
  await sql(
    databaseUrl,
    `with shop as (insert into actors (kind, name) values ('program', 'shop') returning id)
      insert into api_keys (hash, actor_id, scopes, last_used_at, expires_at)
      select sha256('a'), id, '{pets:read}', now(), $1 from shop`,
    [expiry],
  )
  expect(await warningsAt(before(expiry, 7.1))).toEqual([])
  expect(await warningsAt(before(expiry, 6.9))).toEqual([
    'an API key that a program uses expires in 6 days. Run: petstore api-keys list, then petstore api-keys rotate ID. See "An API key is about to expire" in docs/runbook.md.',
  ])
  await sql(databaseUrl, 'update api_keys set revoked_at = now()')
  expect(await warningsAt(before(removal, 89.5))).toEqual([])
  await sql(
    databaseUrl,
    `insert into deprecated_calls (api_key_id, operation, day, calls)
      select id, 'getPet', (now() at time zone 'UTC')::date, 7 from api_keys`,
  )
  expect(await warningsAt(before(removal, 90.5))).toEqual([])
  expect(await warningsAt(before(removal, 89.5))).toEqual([
    'getPet is removed in 89 days, and programs called it 7 times today. Find the API keys of these programs, and tell their owners. See "An operation is removed soon" in docs/runbook.md.',
  ])
})

test('names the session whose lock blocks the service', async () => {
  const holder = new Client({ connectionString: asSuperuser(valid), application_name: 'report' })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin; lock table orders, webhooks in access exclusive mode')
  const { code, found } = await examine({ DATABASE_URL: valid })
  expect(code).toBe(1)
  const [waits, ...others] = found.filter(({ check }) =>
    ['waits', 'webhooks', 'holds', 'restores'].includes(check),
  )
  // Without the check of the webhooks, which would wait too.
  expect(others).toEqual([])
  const { pid } = (await holder.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0] as {
    pid: number
  }
  expect(waits).toEqual({
    check: 'waits',
    state: 'fault',
    message: `pid ${pid} (application report, role postgres) locks orders, webhooks: requests fail with 503`,
    remedy: `If that session can be ended, run as a superuser: select pg_terminate_backend(${pid})`,
  })

  // A lock of a row is visible only while a session of the service waits for it.
  await holder.query(`rollback; insert into categories (id, name) values (7777, 'lock')`)
  await holder.query(`begin; select from categories where id = 7777 for update`)
  // The limits of the role would end the wait before a busy host has noticed it.
  const waiting = new Client({
    connectionString: valid,
    lock_timeout: 120_000,
    statement_timeout: 120_000,
  })
  await waiting.connect()
  onTestFinished(() => waiting.end())
  const update = waiting.query(`update categories set name = 'other' where id = 7777`)
  await untilBlocked(valid)
  expect(await examineFor('waits', { DATABASE_URL: valid })).toMatchObject({
    code: 1,
    message: `pid ${pid} (application report, role postgres) locks rows that the service needs: requests fail with 503`,
  })
  await holder.query('rollback')
  await update
  expect(await examineFor('waits', { DATABASE_URL: valid })).toMatchObject({ state: 'ok' })
})

test('a check that fails is a fault, and the other checks go on', async () => {
  const databaseUrl = await createTestDatabase()
  await sql(databaseUrl, 'revoke select on pg_collation from public')
  const { code, stdout } = await runInProcess(['doctor', '--json'], { DATABASE_URL: databaseUrl })
  const findings = JSON.parse(stdout) as { check: string; state: string }[]
  expect(code).toBe(1)
  expect(findings.filter(({ state }) => state === 'fault')).toMatchObject([
    { check: 'collations', message: 'the check failed: permission denied for table pg_collation' },
  ])
  expect(findings.at(-1)).toMatchObject({ check: 'clock', state: 'ok' })
})

test('reports objects that the migration role does not own, until deploy/roles.sql has run', async () => {
  const databaseUrl = await createTestDatabase()
  const ownersOf = (environment: Record<string, string>) =>
    examineFor('owners', { DATABASE_URL: databaseUrl, ...environment })
  await sql(
    databaseUrl,
    `alter table pets owner to postgres; alter type pet_status owner to postgres;
      alter function pet_name_key(text) owner to postgres`,
  )
  expect(await ownersOf({})).toMatchObject({
    code: 1,
    state: 'fault',
    message:
      'the role petstore_migrator does not own pet_name_key, pet_status, pets: `petstore migrate` can fail',
    remedy: 'Run deploy/roles.sql again.',
  })
  expect(await ownersOf({ MIGRATION_DATABASE_URL: asSuperuser(databaseUrl) })).toMatchObject({
    code: 0,
    state: 'ok',
    message: 'the role postgres owns all tables, types and functions',
  })
  const url = databaseUrl.replace('petstore_app', 'elsewhere')
  expect(await ownersOf({ MIGRATION_DATABASE_URL: url })).toMatchObject({
    code: 0,
    state: 'ok',
    message: expect.stringContaining('not checked: the role elsewhere does not exist'),
  })
  await makeRoles(databaseUrl)
  expect(await ownersOf({})).toMatchObject({ code: 0, state: 'ok' })
})

const collationsOf = (DATABASE_URL: string) => examineFor('collations', { DATABASE_URL })

/** Runs the statements that the doctor recommends, each as the role that it names. */
async function follow(databaseUrl: string, remedy = ''): Promise<void> {
  const [, asMigrator = '', asAdmin = ''] =
    /^As petstore_migrator, run one statement at a time: (.+) Then, as a superuser: (.+)$/.exec(remedy) ?? []
  for (const [url, statements] of [
    [asOwner(databaseUrl), asMigrator],
    [asSuperuser(databaseUrl), asAdmin],
  ] as const) {
    const client = new Client(url)
    await client.connect()
    for (const statement of statements.split(';').filter((text) => text !== '')) await client.query(statement)
    await client.end()
  }
}

test('warns about a collation whose version has changed, and says which index to rebuild and how', async () => {
  const databaseUrl = await createTestDatabase()
  await sql(databaseUrl, `update pg_collation set collversion = '1.0' where collname = 'und-x-icu'`)
  const found = await collationsOf(databaseUrl)
  expect(found).toMatchObject({
    code: 0,
    state: 'warning',
    message: expect.stringMatching(
      /^the collation "und-x-icu" is now version [\d.]+, but these indexes were built with version 1\.0, so queries can miss rows: pets_by_status_and_name, pets_by_word$/,
    ),
    remedy:
      'As petstore_migrator, run one statement at a time: reindex index concurrently pets_by_status_and_name; reindex index concurrently pets_by_word; Then, as a superuser: alter collation pg_catalog."und-x-icu" refresh version;',
  })
  await follow(databaseUrl, found.remedy)
  expect(await collationsOf(databaseUrl)).toMatchObject({ state: 'ok' })
})

test("names every text index when the version of the database's collation has changed", async () => {
  const name = `${new URL(valid).pathname.slice(1)}_icu`
  await sql(valid, `create database ${name} template template0 locale_provider icu icu_locale 'en-US'`)
  onTestFinished(async () => void (await sql(valid, `drop database ${name} with (force)`)))
  const url = new URL(valid)
  url.pathname = name
  await prepareDatabase(url.href)
  expect(await collationsOf(url.href)).toMatchObject({ state: 'ok' })
  await sql(url.href, `update pg_database set datcollversion = '1.0' where datname = '${name}'`)
  const found = await collationsOf(url.href)
  expect(found).toMatchObject({
    state: 'warning',
    message: expect.stringMatching(
      /^the collation of the database is now .*: deprecated_calls_pkey, health_reports_pkey, idempotency_keys_pkey, imports_pkey$/,
    ),
  })
  await follow(url.href, found.remedy)
  expect(await collationsOf(url.href)).toMatchObject({ state: 'ok' })
})

test.runIf(process.platform === 'linux')('prints colours on a terminal only', async () => {
  expect((await onTerminal('petstore doctor')).stdout).toContain('\u001b[31mfault')
  expect((await onTerminal('petstore doctor | cat')).stdout).toMatch(/^fault {4}configuration/)
})

test('exits without a message if its reader, such as `head`, closes the pipe', async () => {
  const line = 'petstore doctor | true; echo "${PIPESTATUS[0]}"'
  const { stdout, stderr } = await shell(line, { DATABASE_URL: valid })
  expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' })
})

const connectionsOf = (DATABASE_URL: string, DATABASE_POOL_SIZE: string) =>
  examineFor('connections', { DATABASE_URL, DATABASE_POOL_SIZE })

test('reports how many processes fit into the lowest connection limit, and warns if none does', async () => {
  const databaseUrl = await createTestDatabase()
  // 100 is the limit of petstore_app in deploy/roles.sql; the server accepts 300 connections.
  expect(await connectionsOf(databaseUrl, '33')).toMatchObject({
    state: 'ok',
    message:
      'the role petstore_app accepts 100 connections, enough for 3 processes with DATABASE_POOL_SIZE = 33',
  })
  expect(await connectionsOf(databaseUrl, '101')).toMatchObject({
    code: 0,
    state: 'warning',
    message:
      'the role petstore_app accepts 100 connections, fewer than DATABASE_POOL_SIZE = 101: under load, requests fail with 503',
    remedy: 'Lower DATABASE_POOL_SIZE, or run: alter role petstore_app connection limit …',
  })
  const name = new URL(databaseUrl).pathname.slice(1)
  await sql(databaseUrl, `alter database ${name} connection limit 19`)
  expect(await connectionsOf(databaseUrl, '10')).toMatchObject({
    state: 'ok',
    message: `the database ${name} accepts 19 connections, enough for one process with DATABASE_POOL_SIZE = 10`,
  })
})
