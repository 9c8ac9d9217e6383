import { expect, test } from 'vitest'
import { behindFaultInjector, cellsOf, openCliFixture } from './fixture.ts'
import { rejectionOf } from './in-process.ts'

const cli = await openCliFixture()
const { run, json, api } = cli

const HEADS = ['ID', 'STATUS', 'CATEGORY', 'NAME']

/** Animals 1, 2, … of a category of their own, by one statement. */
async function addMany(count: number, categoryId: number): Promise<number[]> {
  const rows = await api.sql(
    `insert into pets (name, category_id) select 'Fish ' || n, $2 from generate_series(1, $1) n returning id::int`,
    [count, categoryId],
  )
  return rows.map(({ id }) => id as number)
}

test('add prints the id alone on standard output, and the rest on standard error', async () => {
  const added = await run('pets', 'add', 'Biscuit', '--category', '7')
  expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[1-9][0-9]*\n$/) })
  expect(added.stderr).toBe('Added Biscuit, available, to category 7. Its id:\n')
  expect(await api.findPet(Number(added.stdout))).toMatchObject({
    name: 'Biscuit',
    categoryId: 7,
    status: 'available',
  })
})

test('add --json prints the animal as the interface answers it', async () => {
  const pet = await json('pets', 'add', 'Rex, the great', '--category', '7', '--status', 'pending')
  const { id } = pet as { id: number }
  expect(pet).toEqual({ id, name: 'Rex, the great', categoryId: 7, status: 'pending' })
  expect(await api.findPet(id)).toEqual(pet)
})

test('add with one --idempotency-key adds one animal, and refuses the key for another', async () => {
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

test('get shows animals in the sequence given, each once, and says which ids nobody has', async () => {
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
  expect(partly.stderr).toBe('No animal has the id 999999.\nNo animal has the id 999998.\n')
  expect(await run('pets', 'get', '999999')).toMatchObject({ code: 1, stdout: '' })
})

test('get takes more ids than the service does at once, and never calls what will be removed', async () => {
  const { json: ask, injector } = await behindFaultInjector(cli)
  const ids = await addMany(250, 20)
  const pets = (await ask('pets', 'get', ...ids.map(String))) as { id: number }[]
  expect(pets.map(({ id }) => id)).toEqual(ids)
  expect(injector.seen.map(({ path }) => path.split('?')[0])).toEqual(['/v1/pets', '/v1/pets', '/v1/pets'])
})

test('list shows the newest 20 as a table and says that there are more; --limit and --all go over pages', async () => {
  const { run: ask, json: askJson, injector } = await behindFaultInjector(cli)
  const newestFirst = (await addMany(250, 21)).toReversed()
  const list = ['pets', 'list', '--category', '21']

  const table = await ask(...list)
  expect(cellsOf(table.stdout)).toEqual([
    HEADS,
    ...newestFirst.slice(0, 20).map((id, n) => [String(id), 'available', '21', `Fish ${250 - n}`]),
  ])
  expect(table.stderr).toBe('There are more: see --limit and --all.\n')
  const limited = await ask(...list, '--limit', '150')
  expect(cellsOf(limited.stdout).map(([id]) => id)).toEqual(['ID', ...newestFirst.slice(0, 150).map(String)])
  expect(limited.stderr).toContain('There are more')
  const all = await ask(...list, '--all')
  expect(cellsOf(all.stdout).map(([id]) => id)).toEqual(['ID', ...newestFirst.map(String)])
  expect(all).toMatchObject({ code: 0, stderr: '' })
  expect(((await askJson(...list, '--all')) as { id: number }[]).map(({ id }) => id)).toEqual(newestFirst)
  // No page is asked for that nobody wants to see.
  const limits = injector.seen.map(({ path }) => new URL(path, 'http://x').searchParams.get('limit'))
  expect(limits).toEqual(['20', ...Array.from({ length: 2 + 3 + 3 }, () => '100')])
})

test('list that ends exactly at its limit does not say that there are more', async () => {
  await addMany(3, 22)
  expect(await run('pets', 'list', '--category', '22', '--limit', '3')).toMatchObject({ code: 0, stderr: '' })
})

test('list by status, by category and by name: the exact parameters of the interface', async () => {
  const { run: ask, json: askJson, injector } = await behindFaultInjector(cli)
  await api.addPet({ name: 'Žofie & Co? #1', categoryId: 23, status: 'sold' })
  const pet = { name: 'Žofie & Co? #1', categoryId: 23, status: 'sold' }
  expect(await askJson('pets', 'list', '--status', 'sold', '--category', '23')).toMatchObject([pet])
  expect(await askJson('pets', 'list', '--name', 'žofie & co? #', '--limit', '5')).toMatchObject([pet])
  expect(injector.seen.map(({ path }) => Object.fromEntries(new URL(path, 'http://x').searchParams))).toEqual(
    [
      { status: 'sold', categoryId: '23', limit: '20' },
      { name: 'žofie & co? #', limit: '5' },
    ],
  )
  const none = await ask('pets', 'list', '--category', '24')
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'There are none.\n' })
  expect(await askJson('pets', 'list', '--category', '24')).toEqual([])
})

test('ids and categories beyond 2^53 keep every digit, in tables and as JSON numbers', async () => {
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

test('a name cannot command the terminal: it is shown in escapes, and JSON keeps it exactly', async () => {
  const name = '\u001b]0;gotcha\u0007\u001b[31mRex\r\n\u009b2J\u202e"id":"7"\u200b\u{e0041}'
  const added = await run('pets', 'add', name, '--category', '25')
  const table = await run('pets', 'list', '--category', '25')
  const asJson = await run('pets', 'list', '--category', '25', '--json')
  const everything = [added, table, asJson].map(({ stdout, stderr }) => stdout + stderr).join('')
  // oxlint-disable-next-line no-control-regex -- those are what must not be there.
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
  [['get', '9223372036854775808'], 'An id is a whole number above 0.'],
  [['get'], "missing required argument 'id'"],
  [['add', 'Rex', '--category', '1', '--idempotency-key', 'ü'], 'signs of ASCII'],
])('pets %j is refused before anything is sent, with words that help', async (args, words) => {
  const { code, stdout, stderr } = await rejectionOf(['pets', ...args, '--url', 'http://127.0.0.1:9'])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(words)
  expect(stderr).toContain('--help')
})
