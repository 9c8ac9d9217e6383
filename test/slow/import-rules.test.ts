// `petstore import`: accepted and rejected rows, resuming, and errors.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import * as fc from 'fast-check'
import { Client } from 'pg'
import { afterAll, expect, test as serialTest } from 'vitest'
import {
  type CsvRecord,
  openCsvParser,
  RECORD_BYTES_MAX,
  RECORD_TEXT_BYTES_MAX,
} from '../../src/data/import-export/csv.ts'
import { findColumns, isRejected, readRow } from '../../src/data/import-export/schema.ts'
import { buildValidator } from '../../src/http/validation.ts'
import { PROFILE_SCHEMAS } from '../../src/store/profiles/schema.ts'
import { NewPetRef, PET_SCHEMAS } from '../../src/store/pets/schema.ts'
import { createTestDatabase, sql } from '../support/database.ts'
import { asSuperuser } from '../support/roles.ts'
import { petstore } from '../support/service.ts'
import { until } from '../support/until.ts'

// Each test has a database and files of its own, and waits for processes most of the time.
const test = serialTest.concurrent

const folder = mkdtempSync(join(tmpdir(), 'petstore-import-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
function file(content: string | Buffer): string {
  files += 1
  const path = join(folder, `${files}.csv`)
  writeFileSync(path, content)
  return path
}

interface Pet {
  name: string
  category_id: string
  status: string
}

async function setUp(environment: Record<string, string> = {}) {
  const DATABASE_URL = await createTestDatabase()
  return {
    DATABASE_URL,
    run: (...args: string[]) => petstore(['import', ...args], { DATABASE_URL, ...environment }),
    pets: () => sql<Pet>(DATABASE_URL, 'select name, category_id::text, status::text from pets order by id'),
    names: async () =>
      (await sql<Pet>(DATABASE_URL, 'select name from pets order by id')).map(({ name }) => name),
  }
}

function pipe(input: string, args: string[], DATABASE_URL: string) {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../bin/petstore.ts'), 'import', ...args],
    {
      env: { PATH: process.env['PATH'], DATABASE_URL },
      cwd: folder,
    },
  )
  // Ignore the error of a process that ends before it has read the whole input.
  child.stdin.on('error', () => {}).end(input)
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.on('close', resolve)
  return Promise.all([promise, text(child.stdout), text(child.stderr)]).then(([code, stdout, stderr]) => ({
    code,
    stdout,
    stderr,
  }))
}

test('accepts columns in any order, extra columns, a missing status, a BOM, CRLF and quotes', async () => {
  const { run, pets, DATABASE_URL } = await setUp()
  const path = file(
    '\u{feff}id,status,"categoryId",name\r\n7,sold,9223372036854775807,"Rex, the ""great"""\r\n\r\n' +
      '8,,1,"two\r\nlines"\r\n9,pending,007,tab\tand \\N and \\. 🐈',
  )
  const { code, stdout, stderr } = await run(path)
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).toMatch(/^3 rows added, 0 rejected; [\d.]+ s, \d+ rows?\/s\.$/m)
  expect(await pets()).toEqual([
    { name: 'Rex, the "great"', category_id: '9223372036854775807', status: 'sold' },
    { name: 'two\r\nlines', category_id: '1', status: 'available' },
    { name: 'tab\tand \\N and \\. 🐈', category_id: '7', status: 'pending' },
  ])
  expect(existsSync(`${path}.rejected.csv`)).toBe(false)
  const [origin] = await sql(DATABASE_URL, 'select distinct request_id, created_by from pets')
  const [kept] = await sql<{ source: string }>(DATABASE_URL, 'select source from imports')
  expect(origin).toEqual({ request_id: `import:${kept?.source.slice(7, 19)}`, created_by: null })

  const bare = await run(file('categoryId,name\n1,Tom\n'))
  expect(bare.code).toBe(0)
  expect((await pets()).at(-1)).toEqual({ name: 'Tom', category_id: '1', status: 'available' })
})

test('lists rejected rows with line number and reason, adds the others, and exits with 2', async () => {
  const { run, names } = await setUp()
  const lines = [
    'name,categoryId,status',
    '"first\nover\nthree lines",1,sold',
    ' ,1,available',
    'Rex,0,gone',
    'Rex,1',
    '"unclosed,1,available',
    '"good",2,available',
    '"bad" quote,1,available',
    `${'x'.repeat(501)},1,available`,
    'last,3,',
  ]
  const path = file(
    Buffer.concat([Buffer.from(lines.join('\n')), Buffer.from('\nbad \xff byte,1,\nnul\0,1,', 'latin1')]),
  )
  const { code, stderr } = await run(path)
  expect(code).toBe(2)
  expect(stderr).toContain('3 rows added, 8 rejected')
  expect(stderr).toContain(`${path}.rejected.csv`)
  expect(await names()).toEqual(['first\nover\nthree lines', 'good', 'last'])
  expect(readFileSync(`${path}.rejected.csv`, 'utf8').split('\n')).toEqual([
    'line,reason,name,categoryId,status,row',
    '5,name must not be blank., ,1,available," ,1,available"',
    '6,"categoryId must be an integer from 1 to 9223372036854775807. status must be one of available, pending, sold.",Rex,0,gone,"Rex,0,gone"',
    '7,"The row has 2 columns, but the first line has 3.",Rex,1,,"Rex,1"',
    '8,Text follows a closing quote.,,,,"""unclosed,1,available"',
    '10,Text follows a closing quote.,,,,"""bad"" quote,1,available"',
    `11,name must have at most 500 characters.,${'x'.repeat(501)},1,available,"${'x'.repeat(501)},1,available"`,
    '13,The row is not valid UTF-8.,,,,"bad ÿ byte,1,"',
    '14,name must be well-formed Unicode without NUL.,nul\0,1,,"nul\0,1,"',
    '',
  ])
})

test('a corrected list of rejected rows can be imported', async () => {
  const { run, names } = await setUp()
  const path = file('name,categoryId\nRex,zero\nTom,1\n')
  const elsewhere = join(folder, 'elsewhere.csv')
  expect((await run(path, '--rejected', elsewhere)).code).toBe(2)
  expect(existsSync(`${path}.rejected.csv`)).toBe(false)
  writeFileSync(elsewhere, readFileSync(elsewhere, 'utf8').replace('Rex,zero', 'Rex,2'))
  expect((await run(elsewhere)).code).toBe(0)
  expect(await names()).toEqual(['Tom', 'Rex'])
})

test('does not overwrite a file that is not a list of rejected rows', async () => {
  const { run, names } = await setUp()
  const [path, precious] = [file('name,categoryId\nRex,zero\n'), file('precious')]
  for (const target of [precious, path]) {
    const { code, stderr } = await run(path, '--rejected', target)
    expect(code).toBe(1)
    expect(stderr).toMatch(/[Cc]hoose another/)
  }
  expect(readFileSync(precious, 'utf8')).toBe('precious')
  expect(await names()).toEqual([])
})

test('a dry run reports rejected rows, and writes neither to the database nor to a file', async () => {
  const { run, names, DATABASE_URL } = await setUp()
  const path = file('name,categoryId\nRex,1\n,1\nTom,x\n')
  const { code, stdout, stderr } = await run(path, '--dry-run', '--json')
  expect(code).toBe(2)
  expect(JSON.parse(stdout)).toMatchObject({
    dryRun: true,
    rows: 3,
    added: 1,
    rejected: 2,
  })
  expect(stderr).toContain('1 row can be added, 2 rejected')
  expect(stderr).toContain('line 3: name must have at least 1 character.')
  expect(await names()).toEqual([])
  expect(await sql(DATABASE_URL, 'select * from imports')).toEqual([])
  expect(existsSync(`${path}.rejected.csv`)).toBe(false)
})

test('rejects a file that was imported before, even if renamed, unless --again is given', async () => {
  const { run, names } = await setUp()
  const content = 'name,categoryId\nRex,1\nTom,x\n'
  const path = file(content)
  expect((await run(path)).code).toBe(2)
  const second = await run(file(content))
  expect(second.code).toBe(1)
  expect(second.stderr).toMatch(/was already imported: 1 row added, finished at .*--again/)
  expect((await run(path, '--again', '--json')).stdout).toContain('"added":1,"rejected":1')
  expect(await names()).toEqual(['Rex', 'Rex'])
  expect(readFileSync(`${path}.rejected.csv`, 'utf8').split('\n')).toHaveLength(3)
})

test('standard input needs --id; a second run with the same id skips imported rows', async () => {
  const { names, DATABASE_URL } = await setUp()
  const input = 'name,categoryId\nRex,1\nTom,1\nAda,1\n'
  const withoutId = await pipe(input, ['-'], DATABASE_URL)
  expect(withoutId).toMatchObject({ code: 1, stderr: expect.stringContaining('--id NAME') })
  expect(await names()).toEqual([])

  expect(await pipe(input, ['-', '--id', 'june'], DATABASE_URL)).toMatchObject({ code: 0 })
  const finished = await pipe(input, ['-', '--id', 'june'], DATABASE_URL)
  expect(finished).toMatchObject({ code: 1, stderr: expect.stringContaining('--again') })

  // Simulate a crash after two rows.
  await sql(
    DATABASE_URL,
    `update imports set rows = 2, finished_at = null; delete from pets where name = 'Ada'`,
  )
  const resumed = await pipe(input, ['-', '--id', 'june', '--json'], DATABASE_URL)
  expect(JSON.parse(resumed.stdout)).toMatchObject({ source: 'id:june', rowsBefore: 2, rows: 3, added: 3 })
  expect(await names()).toEqual(['Rex', 'Tom', 'Ada'])
  const [row] = await sql(DATABASE_URL, 'select distinct request_id from pets')
  expect(row).toEqual({ request_id: 'import:june' })

  await sql(DATABASE_URL, 'update imports set rows = 9, finished_at = null')
  const other = await pipe(input, ['-', '--id', 'june'], DATABASE_URL)
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('choose another --id') })
})

test('rejects the second of two concurrent imports of one file', async () => {
  const { run, names, DATABASE_URL } = await setUp()
  const path = file('name,categoryId\nRex,1\n')
  const holder = new Client(asSuperuser(DATABASE_URL))
  await holder.connect()
  await holder.query('begin; lock table pets in exclusive mode')
  const first = run(path)
  // Tests in other databases also have advisory locks.
  const locks = `select from pg_locks join pg_database on database = pg_database.oid
    where datname = current_database() and locktype = 'advisory' and granted`
  await until(async () => (await sql(DATABASE_URL, locks)).length > 0)
  const second = await run(path)
  expect(second.code).toBe(1)
  expect(second.stderr).toContain('Another process is importing')
  await holder.query('commit')
  await holder.end()
  expect((await first).code).toBe(0)
  expect(await names()).toEqual(['Rex'])
})

test('rejects a row of an unnamed category with CATEGORIES=strict, even in a dry run', async () => {
  const { run, names, DATABASE_URL } = await setUp({ CATEGORIES: 'strict' })
  await sql(DATABASE_URL, `insert into categories (id, name) values (7, 'cats')`)
  const path = file('name,categoryId\nRex,8\nTom,7\nAda,x\nKit,007\nBo,9\n')
  expect((await run(path, '--dry-run')).stderr).toContain('line 2: No category has the id 8.')
  expect((await run(path)).code).toBe(2)
  expect(await names()).toEqual(['Tom', 'Kit'])
  const listed = readFileSync(`${path}.rejected.csv`, 'utf8').trim().split('\n')
  expect(listed.map((line) => line.split(',')[0])).toEqual(['line', '2', '4', '6'])
})

test('after a failure, a second run adds the remaining rows and lists each rejected row once', async () => {
  const { run, DATABASE_URL } = await setUp()
  const rows = Array.from({ length: 35_000 }, (_, n) => (n % 1_000 === 5 ? `Pet ${n},none` : `Pet ${n},1`))
  const path = file(`name,categoryId\n${rows.join('\n')}\n`)
  await sql(
    DATABASE_URL,
    `create function fail() returns trigger language plpgsql as
      $$ begin if new.name = 'Pet 25000' then raise 'the disk is full'; end if; return new; end $$;
    create trigger fail before insert on pets for each row execute function fail()`,
  )
  const failed = await run(path)
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('the disk is full')
  expect(failed.stderr).toContain('Committed so far: 20,000 rows. Run the same command again')
  await sql(DATABASE_URL, 'drop trigger fail on pets')
  // Simulate a kill after the list was written and before the commit.
  const list = `${path}.rejected.csv`
  writeFileSync(list, readFileSync(list, 'utf8') + '20007,not committed,Rex,1,\n'.repeat(500))

  const resumed = await run(path, '--json')
  expect(resumed.code).toBe(2)
  expect(JSON.parse(resumed.stdout)).toMatchObject({ rowsBefore: 20_000, rows: 35_000, rejected: 35 })
  const [counted] = await sql(
    DATABASE_URL,
    'select count(*)::int as all, count(distinct name)::int as different from pets',
  )
  expect(counted).toEqual({ all: 34_965, different: 34_965 })
  const listed = readFileSync(list, 'utf8').trim().split('\n').slice(1)
  expect(listed.map((line) => Number(line.split(',')[0]))).toEqual(
    Array.from({ length: 35 }, (_, n) => n * 1_000 + 7),
  )
})

test('Ctrl-C commits the batch in flight, and prints how to resume', async () => {
  const { run, names, DATABASE_URL } = await setUp()
  const input = `name,categoryId\n${Array.from({ length: 10_001 }, (_, n) => `Pet ${n},1\n`).join('')}`
  const args = [join(import.meta.dirname, '../../bin/petstore.ts'), 'import', '-', '--id', 'ctrl-c']
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], DATABASE_URL },
    cwd: folder,
  })
  const stderr = text(child.stderr)
  const { promise: ended, resolve } = Promise.withResolvers<number | null>()
  child.on('close', resolve)
  // Leave standard input open, like a program that has more rows to write.
  child.stdin.write(input)
  while ((await names()).length === 0) continue
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(await stderr).toContain('10,000 rows added')
  expect(await stderr).toContain('Run the same command again to continue')
  expect((await pipe(input, ['-', '--id', 'ctrl-c'], DATABASE_URL)).code).toBe(0)
  expect(await names()).toHaveLength(10_001)
  expect((await run('--help')).stdout).toContain('2    some rows were rejected')
})

test.each([
  ['a missing file', () => join(folder, 'none.csv'), [], 'There is no file'],
  ['a folder', () => folder, [], 'petstore import - --id NAME'],
  ['an empty file', () => file(''), [], 'is empty'],
  ['a file without categoryId', () => file('name,category\nRex,1\n'), [], 'has no column categoryId'],
  [
    'semicolons instead of commas',
    () => file('name;categoryId\nRex;1\n'),
    [],
    'Separate the columns with commas',
  ],
  ['a duplicate column', () => file('name,name,categoryId\n'), [], 'more than one column "name"'],
  ['a UTF-16 file', () => file(Buffer.from('\u{feff}name,categoryId\n', 'utf16le')), [], 'not valid UTF-8'],
  ['--id with a file', () => file('name,categoryId\n'), ['--id', 'x'], 'standard input'],
  ['a slash in --id', () => '-', ['--id', 'a/b'], 'letters, digits'],
])('fails with a helpful message for %s', async (_what, path, options, message) => {
  const { run, names } = await setUp()
  const { code, stdout, stderr } = await run(path(), ...options)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(message)
  expect(await names()).toEqual([])
})

test('prints what to do if the database is unreachable or its schema is outdated', async () => {
  const path = file('name,categoryId\nRex,1\n')
  const offline = await petstore(['import', path], {
    DATABASE_URL: 'postgres://petstore@127.0.0.1:1/none',
  })
  expect(offline).toMatchObject({ code: 1, stderr: expect.stringContaining('petstore doctor') })
  const outdated = await petstore(['import', path], { DATABASE_URL: await createTestDatabase('empty') })
  expect(outdated).toMatchObject({ code: 1, stderr: expect.stringContaining('Run: petstore migrate') })
})

const parse = (chunks: readonly Buffer[]): CsvRecord[] => {
  const parser = openCsvParser()
  return [...chunks.flatMap((chunk) => [...parser.push(chunk)]), ...parser.push(Buffer.alloc(0), true)]
}
const textsOf = (records: readonly CsvRecord[]) => records.map((record) => record.text())
const cut = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size))

test('parses every field exactly, whatever the chunks in which the file is read', () => {
  const field = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é', '🐈') }),
    fc.string({ unit: 'binary' }),
  )
  const records = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { minLength: 1 })
  fc.assert(
    fc.property(
      records,
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom('\n', '\r\n'),
      (rows, size, end) => {
        const quote = (value: string) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)
        const texts = rows.map((row) => row.map(quote).join(',').toWellFormed())
        const bytes = Buffer.from(texts.map((row) => row + end).join(''))
        // Writing the file replaces lone surrogates, and parsing ignores a leading BOM.
        const expected = rows.map((row) => row.map((value) => value.toWellFormed()))
        fc.pre(!bytes.subarray(0, 3).equals(Buffer.from('\u{feff}')))
        const parsed = parse(cut(bytes, size))
        expect(parsed.map(({ fields }) => fields)).toEqual(expected)
        expect(textsOf(parsed)).toEqual(texts)
        expect(parsed.every(({ fault }) => fault === undefined)).toBe(true)
        expect(parsed.at(-1)?.next.bytes).toBe(bytes.length)
      },
    ),
  )
})

test('parses a malformed file into the same records whatever the chunks, and if it resumes after any record', () => {
  const bytes = fc.array(fc.constantFrom('a', '"', ',', '\n', '\r', '\xff', '\xc3', '\xa9', '1'), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 9 }), (characters, size) => {
      const input = Buffer.from(characters.join(''), 'latin1')
      const whole = parse([input])
      expect(parse(cut(input, size))).toEqual(whole)
      expect(textsOf(parse(cut(input, size)))).toEqual(textsOf(whole))
      for (const [index, { next }] of whole.entries()) {
        const parser = openCsvParser(next)
        expect([...parser.push(input.subarray(next.bytes), true)]).toEqual(whole.slice(index + 1))
      }
    }),
    { numRuns: 2_000 },
  )
})

test('an unclosed quote or an overlong line invalidates only that line', () => {
  const long = 'x'.repeat(RECORD_BYTES_MAX + 10)
  const input = Buffer.from(`a,b\n"open,${long}\nc,d\né${long}${long}\n"e\n",f\n"g`)
  for (const size of [50_000, 65_536, input.length]) {
    const parsed = parse(cut(input, size))
    expect(parsed.map(({ line, fields, fault }) => [line, fields, fault !== undefined])).toEqual([
      [1, ['a', 'b'], false],
      [2, [], true],
      [3, ['c', 'd'], false],
      [4, [], true],
      [5, ['e\n', 'f'], false],
      [7, [], true],
    ])
    const shown = RECORD_TEXT_BYTES_MAX
    expect(textsOf(parsed)).toEqual([
      'a,b',
      `"open,${long.slice(0, shown - 6)}…`,
      'c,d',
      `é${long.slice(0, shown - 2)}…`,
      '"e\n",f',
      '"g',
    ])
  }
})

test('accepts exactly the rows that the API accepts', () => {
  const schemas = Object.fromEntries(
    [...PET_SCHEMAS, ...PROFILE_SCHEMAS].map((schema) => [String((schema as { $id?: string }).$id), schema]),
  )
  const validate = buildValidator(schemas)({ schema: NewPetRef, httpPart: 'body' })
  const columns = findColumns(['name', 'categoryId', 'status'], 'x')
  const names = fc.oneof(
    fc.string({ unit: fc.constantFrom(' ', '\t', '\u{a0}', '\u{feff}', '\u{2003}', '\0', 'a', '\u{85}') }),
    fc.string({ unit: 'binary' }),
    fc.integer({ min: 498, max: 502 }).map((length) => '🐈'.repeat(length)),
    fc.integer({ min: 498, max: 502 }).map((length) => 'a'.repeat(length)),
  )
  const categories = fc.oneof(
    fc.bigInt({ min: -2n, max: 3n }),
    fc.bigInt({ min: 2n ** 63n - 2n, max: 2n ** 63n + 1n }),
  )
  const statuses = fc.constantFrom('available', 'pending', 'sold', 'Sold', ' ', 'gone')
  fc.assert(
    fc.property(names, categories, statuses, (name, categoryId, status) => {
      fc.pre(name.isWellFormed())
      const isAccepted = !isRejected(
        readRow({ line: 2, fields: [name, String(categoryId), status], fault: undefined }, columns),
      )
      expect(isAccepted).toBe(!('error' in validate({ name, categoryId, status })))
    }),
    { numRuns: 1_000 },
  )
})
