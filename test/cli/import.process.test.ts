// The file of rejected rows, and the counts that an import prints. test/slow/import-rules.test.ts tests the rules for
// each row.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openCsvParser } from '../../src/data/import-export/csv.ts'
import { createTestDatabase, sql } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'
import { petstore } from '../support/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-import-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const DATABASE_URL = await createTestDatabase()
const path = join(folder, 'pets.csv')
const rejectedPath = `${path}.rejected.csv`
const run = (...args: string[]) => runInProcess(args, { DATABASE_URL })

const rejected = [
  'Rex, the great,2,available',
  '"Ada ""the cat"" Byron,3,sold',
  '"two\nlines",none,',
  'Ren\u00e9e,4,pending',
]

test('the file of rejected rows contains each row unchanged, and can be imported once it is fixed', async () => {
  writeFileSync(path, Buffer.from(`name,categoryId,status\r\nTom,1,\r\n${rejected.join('\r\n')}`, 'latin1'))
  const first = await petstore(['import', path], { DATABASE_URL })
  expect(first).toMatchObject({ code: 2, stderr: expect.stringMatching(/^1 row added, 4 rejected;/) })
  const records = [...openCsvParser().push(readFileSync(rejectedPath), true)].map(({ fields }) => fields)
  expect(records[0]).toEqual(['line', 'reason', 'name', 'categoryId', 'status', 'row'])
  expect(records.slice(1).map((fields) => fields.at(-1))).toEqual(rejected)
  expect(records[1]?.[1]).toBe('The row has 4 columns, but the first line has 3.')

  const unfixed = await run('import', rejectedPath, '--dry-run')
  expect(unfixed.code).toBe(2)
  expect(unfixed.stderr).toContain('0 rows can be added, 4 rejected')

  const fixed = [
    '"Rex, the great",2,available',
    '"Ada ""the cat"" Byron",3,sold',
    'Two,1,',
    'Renée,4,pending',
  ]
  writeFileSync(rejectedPath, ['name,categoryId,status', ...fixed].join('\n'))
  const second = await run('import', rejectedPath)
  expect(second).toMatchObject({ code: 0, stderr: expect.stringMatching(/^4 rows added/) })
  const names = await sql<{ name: string }>(DATABASE_URL, 'select name from pets order by id')
  const added = ['Tom', 'Rex, the great', 'Ada "the cat" Byron', 'Two', 'Renée']
  expect(names.map(({ name }) => name)).toEqual(added)
})

const TEXT = '"two\nlines, a \\ and a ""quote"""'

test('imports profiles, and an export with --profiles can be imported again', async () => {
  const profiles = join(folder, 'profiles.csv')
  const rows = [
    'name,price,categoryId,breed,sex,bornOn,chipNumber,reference,description,colour',
    `Rex,129.00,1,Beagle,male,2024-02-29,276098106123456,SKU-4711,${TEXT},brown`,
    'Tom,,2,,,,,,,',
    'Luna,0.50,3,,,,,,,',
  ]
  writeFileSync(profiles, rows.join('\n'))
  await sql(DATABASE_URL, 'delete from pets')
  const imported = await run('import', profiles)
  expect(imported).toMatchObject({ code: 0, stderr: expect.stringMatching(/^3 rows added/) })
  const withoutIds = (text: string) => text.replaceAll(/^\d+,/gm, '').trimEnd()
  const exported = (await run('export', '--profiles')).stdout
  expect(withoutIds(exported)).toBe(
    [
      'id,name,categoryId,status,price,currency,breed,sex,bornOn,chipNumber,reference,description',
      `Rex,1,available,129.00,EUR,Beagle,male,2024-02-29,276098106123456,SKU-4711,${TEXT}`,
      'Tom,2,available,,,,,,,,',
      'Luna,3,available,0.50,EUR,,,,,,',
    ].join('\n'),
  )
  const again = join(folder, 'again.csv')
  writeFileSync(again, exported)
  await sql(DATABASE_URL, 'delete from pets')
  expect((await run('import', again)).code).toBe(0)
  expect(withoutIds((await run('export', '--profiles')).stdout)).toBe(withoutIds(exported))
  const lines = (await run('export', '--profiles', '--format', 'ndjson')).stdout.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ name: 'Rex', price: '129.00', currency: 'EUR', bornOn: '2024-02-29' }),
    { id: expect.any(Number), name: 'Tom', categoryId: 2, status: 'available' },
    expect.objectContaining({ name: 'Luna', price: '0.50' }),
  ])
  const requestId = expect.stringMatching(/^import:[0-9a-f]{12}$/)
  const newest = 'select type::text, request_ids from outbox order by id desc limit 2'
  expect(await sql(DATABASE_URL, newest)).toEqual([
    { type: 'pet.profile_updated', request_ids: [requestId, requestId] },
    { type: 'pet.created', request_ids: [requestId, requestId, requestId] },
  ])
})

test('rejects rows whose reference a stored pet or an earlier row has, and adds the others', async () => {
  const file = join(folder, 'references.csv')
  await sql(DATABASE_URL, 'delete from pets')
  writeFileSync(file, 'name,categoryId,reference\nRex,1,known\n')
  expect((await run('import', file)).code).toBe(0)
  writeFileSync(file, 'name,categoryId,reference\nA,1,new\nB,1,known\n,1,x\nC,1,new\nD,1,\nE,1,other\n')
  expect((await run('import', file)).stderr).toMatch(/3 rows added/)
  const list = readFileSync(`${file}.rejected.csv`)
  const [, ...records] = [...openCsvParser().push(list, true)].map(({ fields }) => fields)
  expect(records.map(([line, reason]) => [line, reason])).toEqual([
    ['3', 'Another pet has this reference.'],
    ['4', 'name must have at least 1 character.'],
    ['5', 'Another pet has this reference.'],
  ])
  const stored = 'select name, reference from pets left join pet_profiles on pet_id = id order by id'
  expect(await sql(DATABASE_URL, stored)).toEqual([
    { name: 'Rex', reference: 'known' },
    { name: 'A', reference: 'new' },
    { name: 'D', reference: null },
    { name: 'E', reference: 'other' },
  ])
})

test('rejects rows with an invalid profile, and lists the values of their profiles', async () => {
  const invalid = join(folder, 'invalid.csv')
  const rows = [
    'name,categoryId,price,currency,sex,bornOn',
    'Rex,1,129,,,',
    'Tom,1,129.00,USD,,',
    'Luna,1,,,f,2999-01-01',
    '"",1,1,,,',
    'Max,1,1.00,EUR,male,2024-02-29',
  ]
  writeFileSync(invalid, rows.join('\n'))
  await sql(DATABASE_URL, 'delete from pets')
  expect((await run('import', invalid)).code).toBe(2)
  const list = readFileSync(`${invalid}.rejected.csv`)
  const [header, ...records] = [...openCsvParser().push(list, true)].map(({ fields }) => fields)
  expect(header?.join()).toBe('line,reason,name,categoryId,status,price,currency,sex,bornOn,row')
  expect(records.map(([, , ...values]) => values)).toEqual([
    ['Rex', '1', '', '129', '', '', '', rows[1]],
    ['Tom', '1', '', '129.00', 'USD', '', '', rows[2]],
    ['Luna', '1', '', '', '', 'f', '2999-01-01', rows[3]],
    ['', '1', '', '1', '', '', '', rows[4]],
  ])
  expect(records.map(([, reason]) => reason)).toEqual([
    expect.stringMatching(/^price must have 2 decimal places/),
    'currency must be EUR, the currency of the store.',
    'sex must be one of female, male, unknown.',
    expect.stringMatching(/^name must have at least 1 character\. price must have 2/),
  ])
  const stored = 'select name, price::text, currency from pets left join pet_profiles on pet_id = id'
  expect(await sql(DATABASE_URL, stored)).toEqual([{ name: 'Max', price: '1.00', currency: 'EUR' }])
})

test('messages use the singular for a count of one', async () => {
  const one = join(folder, 'one.csv')
  writeFileSync(one, 'categoryId,name\n1\n')
  expect((await run('import', one, '--dry-run')).stderr).toContain(
    'line 2: The row has 1 column, but the first line has 2.',
  )
  await sql(DATABASE_URL, `delete from pets; insert into pets (name, category_id) values ('Solo', 1)`)
  expect((await run('export')).stderr).toBe('1 pet exported.\n')
})

test('an import exits if the server cannot confirm its first commit, such as a standby', async () => {
  // The parameters of the function depend on the version of PostgreSQL.
  const [found] = await sql<{ emit: string }>(
    DATABASE_URL,
    `select 'function ' || oid::regprocedure as emit from pg_proc
      where proname = 'pg_logical_emit_message' and proargtypes[2] = 'text'::regtype`,
  )
  const emit = found?.emit ?? ''
  await sql(DATABASE_URL, `revoke execute on ${emit} from public`)
  try {
    const { code, stderr } = await petstore(['import', path], { DATABASE_URL })
    expect(stderr).toContain('permission denied')
    expect(code).toBe(1)
  } finally {
    await sql(DATABASE_URL, `grant execute on ${emit} to public`)
  }
})
