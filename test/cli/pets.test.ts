import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { behindFaultInjector, cellsOf, openCliFixture } from './fixture.ts'

const cli = await openCliFixture()
const { run, json, api } = cli

const HEADS = ['ID', 'STATUS', 'CATEGORY', 'NAME']

/** Adds pets named Fish 1, Fish 2, … to a category; returns their ids. */
async function addMany(count: number, categoryId: number): Promise<number[]> {
  const rows = await api.sql(
    `insert into pets (name, category_id) select 'Fish ' || n, $2 from generate_series(1, $1) n returning id::int`,
    [count, categoryId],
  )
  return rows.map(({ id }) => id as number)
}

test('add prints only the id on standard output, and the description on standard error', async () => {
  const added = await run('pets', 'add', 'Biscuit', '--category', '7')
  expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[1-9][0-9]*\n$/) })
  expect(added.stderr).toBe('Added Biscuit, available, to category 7. Its id:\n')
  expect(await api.findPet(Number(added.stdout))).toMatchObject({
    name: 'Biscuit',
    categoryId: 7,
    status: 'available',
  })
})

test('add --json prints the pet as the API returns it', async () => {
  const pet = await json('pets', 'add', 'Rex, the great', '--category', '7', '--status', 'pending')
  const { id } = pet as { id: number }
  expect(pet).toEqual({ id, name: 'Rex, the great', categoryId: 7, status: 'pending' })
  expect(await api.findPet(id)).toEqual(pet)
})

test('add stores the given facts with the pet', async () => {
  const added = await run('pets', 'add', 'Rex', '--category', '7', '--price', '129.00', '--breed', 'Pug')
  expect(added.code).toBe(0)
  const id = Number(added.stdout)
  expect((await api.get(`/pets/${id}/profile`)).body).toEqual({
    petId: id,
    price: '129.00',
    currency: 'EUR',
    breed: 'Pug',
  })
})

test('list and get print what --include names, with --json', async () => {
  const id = (await run('pets', 'add', 'Rex', '--category', '77', '--breed', 'Pug')).stdout.trim()
  for (const command of [
    ['list', '--category', '77'],
    ['get', id],
  ]) {
    const [pet] = (await json('pets', ...command, '--include', 'profile,times')) as object[]
    expect(pet).toMatchObject({ name: 'Rex', profile: { breed: 'Pug' }, createdAt: expect.any(String) })
    expect((await run('pets', ...command, '--include', 'times')).stderr).toContain('--include needs --json')
    expect((await run('pets', ...command, '--json', '--include', 'profiles')).code).toBe(1)
  }
})

test('count prints the number of pets that match', async () => {
  await run('pets', 'add', 'Rex', '--category', '78')
  expect((await run('pets', 'count', '--category', '78')).stdout).toBe('1\n')
  expect(await json('pets', 'count', '--category', '78', '--status', 'sold')).toEqual({
    count: 0,
    more: false,
  })
})

test('put adds the pet with a reference, and changes it', async () => {
  const put = (...args: string[]) =>
    json('pets', 'put', 'SKU-1/2', '--name', 'Rex', '--category', '79', ...args)
  const first = (await put('--price', '5.00')) as { id: number }
  expect(await put('--status', 'sold', '--breed', 'Pug')).toEqual(first)
  expect((await api.get(`/pets/${first.id}/profile`)).body).toMatchObject({
    price: '5.00',
    breed: 'Pug',
    reference: 'SKU-1/2',
  })
})

test('add creates one pet if it is run twice with the same --idempotency-key, and rejects the key for another pet', async () => {
  const args = ['pets', 'add', 'Twin', '--category', '8', '--idempotency-key', 'delivery 17/3']
  const [first, second] = [await run(...args), await run(...args)]
  expect(second).toMatchObject({ code: 0, stdout: first.stdout })
  expect(await api.sql(`select id::text from pets where name = 'Twin'`)).toEqual([
    { id: first.stdout.trim() },
  ])
  const other = await run('pets', 'add', 'Other', ...args.slice(3))
  expect(other).toMatchObject({ code: 1, stdout: '' })
  expect(other.stderr).toContain('(idempotency_key_reused, request ')
})

test('export writes the pets that match to standard output, and says if the limit was reached', async () => {
  const [first, second] = await addMany(2, 31)
  const lines = [`${second},Fish 2,31,available\n`, `${first},Fish 1,31,available\n`]
  expect(await run('pets', 'export', '--category', '31')).toMatchObject({
    code: 0,
    stdout: `id,name,categoryId,status\n${lines.join('')}`,
    stderr: '2 pets exported.\n',
  })
  const limited = await run('pets', 'export', '--category', '31', '--format', 'ndjson', '--limit', '1')
  expect(limited.stdout).toBe(`{"id":${second},"name":"Fish 2","categoryId":31,"status":"available"}\n`)
  expect(limited.stderr).toContain('More pets can match than the limit of 1.')
  const { stdout } = await run('pets', 'export', '--category', '31', '--profiles', '--limit', '1')
  expect(stdout).toMatch(/^id,name,categoryId,status,price,/)
})

test('change makes the changes of a file once, shows the result of each line, and fails if one of them failed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-changes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'changes.ndjson')
  const { id } = await api.addPet()
  // More than one request.
  const creates = Array.from({ length: 100 }, () => '{"create": {"name": "Changed", "categoryId": 9}}')
  const others = [
    '',
    `{"update": {"petId": ${id}, "name": "Changed"}}`,
    '{"delete": {"petId": 9223372036854775807}}',
  ]
  writeFileSync(file, [...creates, ...others].join('\n'))
  const args = ['pets', 'change', file, '--idempotency-key', 'changes 1']
  const [first, second] = [await run(...args), await run(...args)]
  expect(first).toMatchObject({ code: 1, stderr: 'Made 101 of 102 changes.\n' })
  expect(cellsOf(first.stdout).slice(-2)).toEqual([
    ['102', '200', String(id), '-'],
    ['103', '404', '-', 'No pet has this id.'],
  ])
  expect(second.stdout).toBe(first.stdout)
  expect(await api.sql(`select from pets where name = 'Changed'`)).toHaveLength(101)
  writeFileSync(file, '{"create": {}}\n{')
  expect(await run('pets', 'change', file)).toMatchObject({ code: 1, stdout: '' })
  const missing = join(folder, 'none.ndjson')
  expect((await run('pets', 'change', missing)).stderr).toContain(`There is no file ${missing}.\n`)
  expect((await run('pets', 'change', folder)).stderr).toContain(`${folder} is not a file.\n`)
})

test('get shows each pet once, in the given order, and names unknown ids', async () => {
  const [luna, milo] = [
    await api.addPet({ name: 'Luna' }),
    await api.addPet({ name: 'Milo', status: 'sold' }),
  ]
  const ids = [milo.id, luna.id, milo.id].map(String)
  const shown = await run('pets', 'get', ...ids)
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(cellsOf(shown.stdout)).toEqual([
    HEADS,
    [String(milo.id), 'sold', '1', 'Milo'],
    [String(luna.id), 'available', '1', 'Luna'],
  ])

  const partly = await run('pets', 'get', '999999', ...ids, '999998', '--json')
  expect(partly.code).toBe(1)
  expect(JSON.parse(partly.stdout)).toEqual([milo, luna])
  expect(partly.stderr).toBe('No pet has the id 999999.\nNo pet has the id 999998.\n')
  expect(await run('pets', 'get', '999999')).toMatchObject({ code: 1, stdout: '' })
})

test('get splits many ids into several requests, and does not call the deprecated operation', async () => {
  const { json: jsonObserved, injector } = await behindFaultInjector(cli)
  const ids = await addMany(250, 20)
  const pets = (await jsonObserved('pets', 'get', ...ids.map(String))) as { id: number }[]
  expect(pets.map(({ id }) => id)).toEqual(ids)
  expect(injector.seen.map(({ path }) => path.split('?')[0])).toEqual(['/v1/pets', '/v1/pets', '/v1/pets'])
})

test('list shows the newest 20 pets and says that there are more; --limit and --all read several pages', async () => {
  const { run: runObserved, json: jsonObserved, injector } = await behindFaultInjector(cli)
  const newestFirst = (await addMany(250, 21)).toReversed()
  const list = ['pets', 'list', '--category', '21']

  const table = await runObserved(...list)
  expect(cellsOf(table.stdout)).toEqual([
    HEADS,
    ...newestFirst.slice(0, 20).map((id, n) => [String(id), 'available', '21', `Fish ${250 - n}`]),
  ])
  expect(table.stderr).toBe('More entries exist: use --limit or --all.\n')
  const limited = await runObserved(...list, '--limit', '150')
  expect(cellsOf(limited.stdout).map(([id]) => id)).toEqual(['ID', ...newestFirst.slice(0, 150).map(String)])
  expect(limited.stderr).toContain('More entries exist')
  const all = await runObserved(...list, '--all')
  expect(cellsOf(all.stdout).map(([id]) => id)).toEqual(['ID', ...newestFirst.map(String)])
  expect(all).toMatchObject({ code: 0, stderr: '' })
  expect(((await jsonObserved(...list, '--all')) as { id: number }[]).map(({ id }) => id)).toEqual(
    newestFirst,
  )
  // A list requests no page after the one that reaches its limit.
  const limits = injector.seen.map(({ path }) => new URL(path, 'http://x').searchParams.get('limit'))
  expect(limits).toEqual(['20', ...Array.from({ length: 2 + 3 + 3 }, () => '100')])
})

test('list does not say that more pets exist if the last one is exactly at the limit', async () => {
  await addMany(3, 22)
  expect(await run('pets', 'list', '--category', '22', '--limit', '3')).toMatchObject({ code: 0, stderr: '' })
})

test('list sends --status, --category, --name and --word as parameters of the API', async () => {
  const { run: runObserved, json: jsonObserved, injector } = await behindFaultInjector(cli)
  await api.addPet({ name: 'Žofie & Co? #1', categoryId: 23, status: 'sold' })
  const pet = { name: 'Žofie & Co? #1', categoryId: 23, status: 'sold' }
  expect(await jsonObserved('pets', 'list', '--status', 'sold', '--category', '23')).toMatchObject([pet])
  expect(await jsonObserved('pets', 'list', '--name', 'žofie & co? #', '--limit', '5')).toMatchObject([pet])
  expect(await jsonObserved('pets', 'list', '--word', 'co', '--category', '23')).toMatchObject([pet])
  expect(injector.seen.map(({ path }) => Object.fromEntries(new URL(path, 'http://x').searchParams))).toEqual(
    [
      { status: 'sold', categoryId: '23', limit: '20' },
      { name: 'žofie & co? #', limit: '5' },
      { word: 'co', categoryId: '23', limit: '20' },
    ],
  )
  const none = await runObserved('pets', 'list', '--category', '24')
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'No entries.\n' })
  expect(await jsonObserved('pets', 'list', '--category', '24')).toEqual([])
})

test('ids and categories above 2^53 keep every digit, in tables and as JSON numbers', async () => {
  const [id, categoryId] = [9_007_199_254_740_993n, 9_223_372_036_854_775_807n]
  await api.sql(`insert into pets (id, name, category_id) values ($1, 'Wide', $2)`, [id, categoryId])
  const row = [String(id), 'available', String(categoryId), 'Wide']
  expect(cellsOf((await run('pets', 'get', String(id))).stdout)[1]).toEqual(row)
  const listed = await run('pets', 'list', '--category', String(categoryId), '--json')
  expect(listed.stdout).toBe(
    `[\n{"id":${id},"name":"Wide","categoryId":${categoryId},"status":"available"}\n]\n`,
  )
  const added = await run('pets', 'add', 'Wider', '--category', String(categoryId), '--json')
  expect(added.stdout).toContain(`"categoryId":${categoryId},`)
})

test('control characters in a name are printed as escapes, and JSON keeps the exact name', async () => {
  const name = '\u001b]0;gotcha\u0007\u001b[31mRex\r\n\u009b2J\u202e"id":"7"\u200b\u{e0041}'
  const added = await run('pets', 'add', name, '--category', '25')
  const table = await run('pets', 'list', '--category', '25')
  const asJson = await run('pets', 'list', '--category', '25', '--json')
  const everything = [added, table, asJson].map(({ stdout, stderr }) => stdout + stderr).join('')
  // oxlint-disable-next-line no-control-regex -- asserts that there are none.
  expect(everything.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b\u202e]|\u{e0041}/u)
  expect(table.stdout).toContain('\\u001b[31mRex\\r\\n\\u009b2J\\u202e"id":"7"\\u200b\\udb40\\udc41\n')
  expect(JSON.parse(asJson.stdout)).toEqual([
    { id: Number(added.stdout), name, categoryId: 25, status: 'available' },
  ])
})

test.each([
  [['list', '--status', 'gone'], 'available, pending, sold'],
  [['list', '--limit', '0'], 'a whole number from 1 to'],
  [['list', '--limit', '5', '--all'], 'cannot be used with'],
  [['list', '--name', 'x', '--category', '1'], 'cannot be used with'],
  [['list', '--word', 'x', '--name', 'y'], 'cannot be used with'],
  [['get', '9223372036854775808'], 'An id is a whole number above 0.'],
  [['get'], "missing required argument 'id'"],
  [['add', 'Rex', '--category', '1', '--idempotency-key', 'ü'], 'ASCII characters'],
])('pets %j fails without a request, and explains the mistake', async (args, explanation) => {
  const { code, stdout, stderr } = await run('pets', ...args, '--url', 'http://127.0.0.1:9')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(explanation)
  expect(stderr).toContain('--help')
})

test('set-profile replaces the profile, and profile and profiles show it', async () => {
  const { id } = await api.addPet()
  const facts = ['--price', '129.00', '--breed', 'Beagle', '--sex', 'female', '--born-on', '2025-05-31']
  const set = await run('pets', 'set-profile', String(id), ...facts, '--chip-number', `chip${id}`)
  expect(set).toMatchObject({ code: 0, stderr: 'The ETag of the profile: "1"\n' })
  const shown = [
    ['PET', 'PRICE', 'SEX', 'BORN', 'CHIP', 'BREED', 'REFERENCE', 'DESCRIPTION'],
    [String(id), '129.00 EUR', 'female', '2025-05-31', `chip${id}`, 'Beagle', '-', '-'],
  ]
  expect(cellsOf(set.stdout)).toEqual(shown)
  expect(cellsOf((await run('pets', 'profile', String(id))).stdout)).toEqual(shown)
  expect(cellsOf((await run('pets', 'profiles', String(id))).stdout)).toEqual(shown)
  expect(cellsOf((await run('pets', 'profiles', '--chip-number', `chip${id}`)).stdout)).toEqual(shown)
  const late = await run('pets', 'set-profile', String(id), '--price', '99.00', '--if-match', '0')
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('precondition_failed') })
  const changed = await json('pets', 'set-profile', String(id), '--description', 'Calm.', '--if-match', '1')
  expect(changed).toEqual({ petId: id, description: 'Calm.' })
  const history = await run('pets', 'history', String(id))
  expect(history.stdout).toContain('price 129.00 -> -, currency EUR -> -, breed Beagle -> -')
  expect(history.stdout).toContain('description - -> Calm.')
})

test('profiles needs either ids or a chip number', async () => {
  const message = 'error: give either ids or --chip-number'
  expect(await run('pets', 'profiles')).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  const both = await run('pets', 'profiles', '1', '--chip-number', 'x')
  expect(both).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
})
