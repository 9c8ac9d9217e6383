// The details of a rejected request: their codes, and messages that are true for every limit of a schema.
import { expect, test } from 'vitest'
import { buildValidator } from '../../src/http/validation.ts'

const compile = buildValidator(undefined)

function detailsOf(schema: object, value: unknown, httpPart = 'body') {
  const result = compile({ schema: { type: 'object', properties: { field: schema } }, httpPart })({
    field: value,
  })
  return 'error' in result ? result.error.details : []
}

test.each([
  { schema: { type: 'array', minItems: 1 }, value: [], code: 'too_few', text: 'at least 1 entry.' },
  { schema: { type: 'array', minItems: 2 }, value: [], code: 'too_few', text: 'at least 2 entries.' },
  { schema: { type: 'array', maxItems: 1 }, value: [1, 2], code: 'too_many', text: 'at most 1 entry.' },
  { schema: { type: 'array', maxItems: 2 }, value: [1, 2, 3], code: 'too_many', text: 'at most 2 entries.' },
  { schema: { type: 'string', minLength: 1 }, value: '', code: 'too_short', text: 'at least 1 character.' },
  { schema: { type: 'string', minLength: 2 }, value: '', code: 'too_short', text: 'at least 2 characters.' },
  { schema: { type: 'string', maxLength: 1 }, value: 'ab', code: 'too_long', text: 'at most 1 character.' },
  { schema: { type: 'string', maxLength: 2 }, value: 'abc', code: 'too_long', text: 'at most 2 characters.' },
])('$schema: "must have $text"', ({ schema, value, code, text }) => {
  expect(detailsOf(schema, value)).toEqual([{ field: 'field', code, message: `field must have ${text}` }])
})

test('a text that does not match a pattern is blank only if the pattern says so', () => {
  expect(detailsOf({ type: 'string', pattern: '\\S' }, ' ')).toEqual([
    { field: 'field', code: 'blank', message: 'field must not be blank.' },
  ])
  expect(detailsOf({ type: 'string', pattern: '^[A-Z]{3}$' }, 'abc')).toEqual([
    { field: 'field', code: 'invalid_format', message: 'field must match the pattern ^[A-Z]{3}$' },
  ])
})

test('an entry of a list is named with its index in a body, and by its parameter in a query', () => {
  const list = { type: 'array', items: { type: 'integer', format: 'int64' }, maxItems: 5 }
  expect(detailsOf(list, [1, 'x'])).toMatchObject([{ field: 'field.1' }])
  expect(detailsOf(list, ['1', 'x', 'y'], 'querystring')).toMatchObject([{ field: 'field' }])
})

test('a header is named by its usual spelling in the message', () => {
  const schema = { type: 'object', properties: { 'idempotency-key': { type: 'string', maxLength: 1 } } }
  const result = compile({ schema, httpPart: 'headers' })({ 'idempotency-key': 'ab' })
  expect('error' in result && result.error.details).toEqual([
    {
      field: 'idempotency-key',
      code: 'too_long',
      message: 'Idempotency-Key must have at most 1 character.',
    },
  ])
})

test.each([
  { schema: { enum: ['name'] }, value: 'id', message: 'field must be name.' },
  { schema: { enum: ['csv', 'ndjson'] }, value: 'xml', message: 'field must be one of csv, ndjson.' },
  {
    schema: { type: 'string', format: 'date-time' },
    value: '2026-01-01T00:00:00 02:00',
    message: expect.stringContaining('In a URL, write + as %2B.'),
  },
  {
    schema: { type: 'string', format: 'uri' },
    value: 'ftp://shop.example/',
    message: expect.stringContaining('must be an absolute URL that starts with https: or http:,'),
  },
])('$schema: $value gets a message that says what to send', ({ schema, value, message }) => {
  expect(detailsOf(schema, value)).toEqual([expect.objectContaining({ message })])
})

test.each(['headers', 'querystring', 'params', 'body'])(
  'returns no value for valid %s, with which Fastify would copy the headers at each access',
  (httpPart) => {
    const schema = { type: 'object', properties: { field: { type: 'string' } } }
    expect(compile({ schema, httpPart })({ field: 'a' })).not.toHaveProperty('value')
  },
)
