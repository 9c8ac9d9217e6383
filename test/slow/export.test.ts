// `petstore export`: formats, output files, and failures.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { petstore } from '../support/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-export-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const DATABASE_URL = await createTestDatabase()
await sql(
  DATABASE_URL,
  `insert into pets (id, name, category_id, status) values
    (9223372036854775807, 'Rex, the "great"', 9223372036854775807, 'sold'),
    (2, e'two\\r\\nlines\\tand \\\\N', 1, 'available'),
    (3, ' 🐈 ', 7, 'pending'),
    (4, '\\.', 7, 'pending'),
    (5, e'\\x01\\x02', 7, 'pending')`,
)

test('csv has a header and every pet, sorted by id', async () => {
  const { code, stdout, stderr } = await petstore(['export'], { DATABASE_URL })
  expect(code).toBe(0)
  expect(stderr).toContain('5 pets exported')
  expect(stdout.split('\n').slice(0, 1)).toEqual(['id,name,categoryId,status'])
  expect(stdout).toContain('\n2,"two\r\nlines\tand \\N",1,available\n3, 🐈 ,7,pending\n')
  expect(stdout).toMatch(/\n9223372036854775807,"Rex, the ""great""",9223372036854775807,sold\n$/)
})

test('ndjson has one pet per line, with every digit', async () => {
  const { code, stdout } = await petstore(['export', '--format', 'ndjson'], { DATABASE_URL })
  expect(code).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(5)
  expect(lines[0]).toBe('{"id":2,"name":"two\\r\\nlines\\tand \\\\N","categoryId":1,"status":"available"}')
  expect(lines[3]).toBe('{"id":5,"name":"\\u0001\\u0002","categoryId":7,"status":"pending"}')
  expect(lines[4]).toBe(
    '{"id":9223372036854775807,"name":"Rex, the \\"great\\"","categoryId":9223372036854775807,"status":"sold"}',
  )
})

test('an export can be imported, with the same names, categories and statuses', async () => {
  const output = join(folder, 'pets.csv')
  const exported = await petstore(['export', '--output', output], { DATABASE_URL })
  expect(exported).toMatchObject({ code: 0, stdout: '' })
  expect(existsSync(`${output}.part`)).toBe(false)
  const other = await createTestDatabase()
  expect((await petstore(['import', output], { DATABASE_URL: other })).code).toBe(0)
  const read = (url: string) => sql(url, 'select name, category_id, status from pets order by id')
  expect(await read(other)).toEqual(await read(DATABASE_URL))
})

test.each([
  ['csv', false],
  ['csv', true],
  ['ndjson', false],
  ['ndjson', true],
])('exportPets writes the same lines as the command: %s, profiles: %s', async (format, profiles) => {
  const url = await createTestDatabase()
  // One line for each pet, so that the lines can be compared in another order.
  await sql(
    url,
    `insert into pets (id, name, category_id, status)
      select id, concat('Rex, the "great" ', e'🐈\\t\\x01\\x1f\\x7f\u2028\\\\', id), 9223372036854775807, 'sold'
      from generate_series(1, 120) id`,
  )
  await sql(
    url,
    `insert into pet_profiles (pet_id, price, currency, breed, sex, born_on, chip_number, description)
      values (1, 129.00, 'EUR', 'Beagle, "tri"', 'female', '2025-05-31', '00123', '=1+1'),
        (120, 5, 'JPY', null, null, null, null, null)`,
  )
  const options = ['--format', format, ...(profiles ? ['--profiles'] : [])]
  const { stdout } = await petstore(['export', ...options], { DATABASE_URL: url })
  const service = await startApp(openTestDatabase(url))
  const { text: exported } = await service.get(
    `/pet-export?format=${format}${profiles ? '&include=profile' : ''}`,
  )
  expect(exported.split('\n').toSorted()).toEqual(stdout.split('\n').toSorted())
})

test('an empty catalogue exports a header as csv, and nothing as ndjson', async () => {
  const empty = { DATABASE_URL: await createTestDatabase() }
  expect((await petstore(['export'], empty)).stdout).toBe('id,name,categoryId,status\n')
  expect((await petstore(['export', '--format', 'ndjson'], empty)).stdout).toBe('')
})

test('exits without an error if its reader, such as `head`, closes the pipe', async () => {
  const many = await createTestDatabase()
  await sql(
    many,
    `insert into pets (name, category_id) select repeat('x', 400), 1 from generate_series(1, 50000)`,
  )
  const executable = join(import.meta.dirname, '../../bin/petstore.ts')
  const command = `"${process.execPath}" "${executable}" export | head -n 2; echo "\${PIPESTATUS[0]}"`
  const child = spawn('bash', ['--norc', '-c', command], {
    env: { PATH: process.env['PATH'], DATABASE_URL: many },
  })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(stdout.split('\n')).toEqual(['id,name,categoryId,status', expect.stringMatching(/^1,x/), '0', ''])
  expect(stderr).toBe('')
})

test('fails without leaving a file if it cannot write the output; writes directly to a device', async () => {
  const { code, stderr } = await petstore(['export', '--output', join(folder, 'none/x.csv')], {
    DATABASE_URL,
  })
  expect(code).toBe(1)
  expect(stderr).toContain('Choose another path')
  expect((await petstore(['export', '--output', '/dev/null'], { DATABASE_URL })).code).toBe(0)
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
})

test('a failed export leaves the previous file unchanged', async () => {
  const output = join(folder, 'kept.csv')
  await petstore(['export', '--output', output], { DATABASE_URL })
  const before = readFileSync(output, 'utf8')
  const failed = await petstore(['export', '--output', output], {
    DATABASE_URL: await createTestDatabase('empty'),
  })
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('Run: petstore migrate') })
  expect(readFileSync(output, 'utf8')).toBe(before)
})
