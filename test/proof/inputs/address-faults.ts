// Invalid values for a query, a path or a header, by schema: numbers must be plain digits, and only lists can have several
// values.
import * as fc from 'fast-check'
import { resolve, type Schema } from './document.ts'
import { type Fault, textFaultEdges, textFaults } from './faults.ts'
import { text } from './texts.ts'
import { INT64_MAX, rangeOf, valueOf } from './values.ts'

/** Faults for a URL or a header. Each has one value, or several if the schema is a list. */
export function addressFaults(schema: Schema): Fault<string[]>[] {
  const twice: Fault<string[]> = {
    kind: 'repeated',
    value: valueOf(schema.type === 'array' ? resolve(schema.items as Schema) : schema).map(({ value }) => [
      String(value),
      String(value),
    ]),
  }
  const one = ({ kind, value }: Fault<string>): Fault<string[]> => ({
    kind,
    value: value.map((single) => [single]),
  })
  if (schema.type === 'array') {
    const item = resolve(schema.items as Schema)
    const { maxItems = 0 } = schema
    const good = valueOf(item).map(({ value }) => String(value))
    const bad = fc.oneof(
      ...addressFaults(item)
        .filter(({ kind }) => kind !== 'repeated')
        .map(({ value }) => value),
    )
    return [
      {
        kind: 'too many',
        value: fc.array(good, { minLength: maxItems + 1, maxLength: maxItems + 5, size: 'max' }),
      },
      {
        kind: 'bad entry',
        value: fc.tuple(fc.array(good, { maxLength: 3 }), bad).map(([rest, faulty]) => [...rest, ...faulty]),
      },
    ]
  }
  if (schema.enum !== undefined) {
    const near = schema.enum.flatMap((value) => ['', value.toUpperCase(), `${value} `, `${value},${value}`])
    const other = fc
      .oneof(fc.constantFrom(...near), text(0, 30))
      .filter((value) => !schema.enum?.includes(value))
    return [twice, one({ kind: 'not in the list', value: other })]
  }
  if (schema.format === 'time-zone') {
    const near = [
      '',
      ' ',
      'Mars/Olympus',
      '+01:00',
      '-5',
      'abc5',
      'UTC ',
      'Europe',
      'Europe/Berlin/',
      '../UTC',
      '\0',
    ]
    // A random text of three letters can be the name of a time zone.
    const value = fc.oneof(fc.constantFrom(...near), text(10, 30))
    return [twice, one({ kind: 'not a time zone', value })]
  }
  if (schema.format === 'date') {
    const near = [
      '',
      '2026-11-5',
      '2026-02-29',
      '2026-13-01',
      '20261115',
      '2026-11-15T00:00:00Z',
      'today',
      '-1',
      '\0',
    ]
    const value = fc.oneof(fc.constantFrom(...near), text(11, 30))
    return [twice, one({ kind: 'not a date', value })]
  }
  if (schema.format === 'date-time') {
    const near = [
      '',
      '2026-11-15',
      '2026-11-15T10:30:00',
      '2026-11-15 10:30:00Z',
      '2026-02-29T10:30:00Z',
      '2026-11-15T24:00:00Z',
      '2026-11-15T10:30:00.1234567Z',
      '2026-11-15T10:30:00+24:00',
      'now',
      'infinity',
      '\0',
    ]
    const value = fc.oneof(fc.constantFrom(...near), text(0, 30))
    return [twice, one({ kind: 'not a date-time', value })]
  }
  if (schema.type === 'integer')
    return [
      twice,
      one({
        kind: 'not a number in the range',
        value: fc.oneof(
          fc.constantFrom(...addressNumberEdges(schema)),
          text(0, 30).filter((value) => !/^\d+$/.test(value)),
        ),
      }),
    ]
  return [
    twice,
    one({
      kind: 'edge',
      value: fc.constantFrom(
        ...textFaultEdges(schema)
          .map(({ value }) => value)
          .filter((value) => value.isWellFormed()),
      ),
    }),
    ...textFaults(schema).map(({ kind, value }) =>
      one({ kind, value: value.filter((single) => single.isWellFormed()) }),
    ),
  ]
}

export function addressNumberEdges(schema: Schema): string[] {
  const [min, max] = rangeOf(schema)
  const numbers = [min - 1n, max + 1n, max + 2n, max * 10n, -1n, INT64_MAX + 1n, 10n ** 30n, 10n ** 300n].map(
    String,
  )
  return [
    ...numbers,
    '',
    ' ',
    `${min} `,
    ` ${min}`,
    `+${min}`,
    '1e1',
    '0x10',
    '1.0',
    '1,2',
    '１',
    '٣',
    'NaN',
    'null',
    '1n',
    '1_0',
    '{}',
    '[1]',
  ]
}
