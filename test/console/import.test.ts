// The import of the console: its rules are those of `petstore import`.
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CsvRecord, readCsv, recordText } from '../../console/src/import/csv.ts'
import { isRejected, readPetFile, TEMPLATE_COLUMNS } from '../../console/src/import/pet-rows.ts'
import { sha256 } from '../../console/src/import/sha256.ts'
import { csvText } from '../../console/src/layout/csv.ts'
import { openCsvParser } from '../../src/data/import-export/csv.ts'
import { profileReader } from '../../src/data/import-export/profile-columns.ts'
import {
  findColumns,
  isRejected as isRejectedByCommand,
  readRow,
} from '../../src/data/import-export/schema.ts'

const EURO = { code: 'EUR', decimals: 2 }
const NOW = new Date('2026-11-18T12:00:00Z')

const shown = (record: CsvRecord) => ({
  line: record.line,
  fields: record.fields,
  fault: record.fault,
  text: recordText(record),
})

test('splits a file into the same records as petstore import, whatever its bytes are', () => {
  const piece = fc.constantFrom('a', 'ü', '🐈', '"', '""', ',', '\n', '\r\n', '\r', '\0', ' ')
  const bytes = fc.oneof(
    fc.array(piece).map((pieces) => Buffer.from(pieces.join(''))),
    fc.uint8Array().map((array) => Buffer.from(array)),
    fc
      .array(fc.oneof(piece, fc.constant('\xff'), fc.constant('\xe2')))
      .map((pieces) => Buffer.from(pieces.join(''), 'latin1')),
    fc.array(piece).map((pieces) => Buffer.from(`\uFEFF${pieces.join('')}`)),
  )
  fc.assert(
    fc.property(bytes, (input) => {
      const expected = [...openCsvParser().push(input, true)]
      expect(Array.from(readCsv(input), shown)).toEqual(
        expected.map((record) => ({
          line: record.line,
          fields: record.fields,
          fault: record.fault,
          text: record.text(),
        })),
      )
    }),
    { numRuns: 500 },
  )
})

test('a quote that is not closed makes only its own line unreadable', () => {
  const rows = `${'x'.repeat(10_000)},1\n`.repeat(110)
  const records = Array.from(readCsv(Buffer.from(`"Rex,1\n${rows}`)))
  expect(records.flatMap(({ fault, line }) => (fault === undefined ? [] : [line]))).toEqual([1])
  expect(records.length).toBe(111)
})

/** Values of a column that are valid, almost valid, or anything. */
const VALUES: Record<string, string[]> = {
  name: [
    'Rex',
    '',
    ' ',
    '\u00a0',
    'x'.repeat(500),
    'x'.repeat(501),
    '🐈'.repeat(500),
    '🐈'.repeat(501),
    'nul\0',
  ],
  categoryId: [
    '1',
    '007',
    '0',
    '9223372036854775807',
    '9223372036854775808',
    '99999999999999999999',
    '1.0',
    '-1',
    ' 1',
    '',
  ],
  status: ['', 'available', 'pending', 'sold', 'Sold', 'gone'],
  price: [
    '',
    '0.00',
    '129.00',
    '129',
    '129.0',
    '129.000',
    '1290,00',
    '01.00',
    '12345678901.00',
    '1234567890.00',
    ' 1.00',
    '.50',
  ],
  breed: [
    '',
    'Beagle',
    ' ',
    'x'.repeat(100),
    'x'.repeat(101),
    '🐈'.repeat(100),
    'two\nlines',
    'tab\t',
    'del\x7f',
  ],
  sex: ['', 'female', 'male', 'unknown', 'Female'],
  bornOn: [
    '',
    '2025-05-31',
    '2025-02-29',
    '1900-01-01',
    '1899-12-31',
    '2026-11-19',
    '2026-11-20',
    '31.05.2025',
    '2025-5-31',
    '10000-01-01',
  ],
  chipNumber: ['', '276098106123456', '276 098', 'x'.repeat(40), 'x'.repeat(41), 'ü'],
  description: [
    '',
    'Calm.',
    '\n',
    'x'.repeat(2_000),
    'x'.repeat(2_001),
    'two\r\nlines',
    'tab\t',
    '🐈'.repeat(2_000),
  ],
  currency: ['', 'EUR', 'USD', 'eur'],
}
const quote = (field: string) => `"${field.replaceAll('"', '""')}"`

/** The fields at fault. The wording differs, because the console explains the faults to people. */
const fieldsIn = (reason: string) => [
  ...new Set(Object.keys(VALUES).filter((name) => new RegExp(String.raw`(^|\. |\$ )${name} `).test(reason))),
]

test('accepts the same rows as petstore import, and finds faults in the same fields', () => {
  const names = fc.shuffledSubarray([...Object.keys(VALUES).slice(2), 'id'])
  const file = names.chain((others) => {
    const header = ['name', 'categoryId', ...others]
    const value = (name: string) =>
      fc.oneof(fc.constantFrom(...(VALUES[name] ?? ['7'])), fc.string({ unit: 'grapheme' }))
    return fc.record({
      header: fc.constant(header),
      rows: fc.array(fc.tuple(...header.map(value)), { minLength: 1, maxLength: 8 }),
    })
  })
  fc.assert(
    fc.property(file, ({ header, rows }) => {
      const bytes = Buffer.from([header, ...rows].map((row) => `${row.map(quote).join(',')}\n`).join(''))
      const records = [...openCsvParser().push(bytes, true)].slice(1)
      const columns = findColumns(header, 'The file')
      const readProfile = profileReader(columns.profile, 'EUR', NOW)
      const read = readPetFile(bytes, EURO, NOW)
      expect(read.rows.length).toBe(records.length)
      for (const [index, record] of records.entries()) {
        const expected = readRow(record, columns, readProfile)
        const row = read.rows[index]
        if (row === undefined) throw new Error('A row is missing.')
        // The command finds some faults only in rows without others.
        const faults = isRejectedByCommand(expected) ? fieldsIn(expected.reason) : []
        expect(isRejected(row) ? fieldsIn(row.reason) : []).toEqual(expect.arrayContaining(faults))
        if (isRejected(row) || isRejectedByCommand(expected)) {
          expect(isRejected(row)).toBe(isRejectedByCommand(expected))
          continue
        }
        const { name, categoryId, status, profile } = expected
        expect(row.pet).toEqual({
          name,
          categoryId: String(BigInt(categoryId)),
          status,
          ...(profile && Object.keys(profile).length > 0 && { profile }),
        })
      }
    }),
    { numRuns: 100 },
  )
})

test.each([
  ['', 'The file is empty.'],
  ['\n\n', 'The file is empty.'],
  ['name,categoryId\n', 'The file has no rows below its first line.'],
  ['name\nRex\n', 'The file has no column categoryId.'],
  ['name;categoryId\nRex;1\n', 'Separate the columns with commas'],
  ['name,categoryId,name\nRex,1,Tom\n', 'more than one column “name”'],
  ['"name,categoryId\nRex,1\n', 'The first line of the file cannot be read: A quote is not closed.'],
])('says what to do about the file %j', (text, message) => {
  expect(() => readPetFile(Buffer.from(text), EURO, NOW)).toThrow(message)
})

test('the hash of a file is its SHA-256', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(sha256(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'))
    }),
  )
  // A part of a larger buffer, as a browser can return it.
  expect(sha256(Buffer.from('..abc').subarray(2))).toBe(createHash('sha256').update('abc').digest('hex'))
})

test('imports a file that was made with the template', () => {
  const values: Partial<Record<(typeof TEMPLATE_COLUMNS)[number], string>> = {
    name: 'Rex',
    categoryId: '1',
    price: '80',
  }
  const file = csvText([[...TEMPLATE_COLUMNS], TEMPLATE_COLUMNS.map((name) => values[name] ?? '')])
  const { rows } = readPetFile(Buffer.from(file), EURO, NOW)
  expect(rows.filter(isRejected).map(({ reason }) => reason)).toEqual([
    'price must be an amount such as 129.00.',
  ])
  const fixed = readPetFile(Buffer.from(file.replace('80', '80.00')), EURO, NOW)
  expect(fixed.rows).toMatchObject([{ pet: { name: 'Rex', profile: { price: '80.00', currency: 'EUR' } } }])
})
