// Inputs that are not random: each field and parameter of an operation just beyond what its schema allows.
import { addressNumberEdges } from './address-faults.ts'
import { badFieldEdges, unknownFieldEdges } from './bodies.ts'
import type { Operation, Schema } from './document.ts'
import { type Broken, fromBody, type NegativeInput, toInput, unknownParameter } from './negative.ts'
import type { RequestChoices, ServiceFixture } from './fixture.ts'
import { encode } from './texts.ts'
import { edgesOf, INT64 } from './values.ts'
import { JSON_TYPE } from './unreadable.ts'

/** Every boundary of every field and parameter, once. */
export function negativeEdges(operation: Operation, fixture: ServiceFixture): NegativeInput[] {
  const { body, query, pathParameter } = operation
  const good = Object.fromEntries(
    (body?.required ?? []).map((name) => [
      name,
      fixture.existing[name]?.id ?? edgesOf(body?.fields[name] as Schema)[0]?.json ?? '',
    ]),
  )
  const json = `{${Object.entries(good)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    .join()}}`
  const valid: RequestChoices = {
    key: fixture.key,
    id: fixture.existing[pathParameter ?? '']?.id ?? '1',
    ...(body && { headers: [JSON_TYPE], body: Buffer.from(json) }),
  }
  const one = (broken: Broken) => toInput(operation, valid, [broken])
  const fields = body === undefined ? [] : badFieldEdges(body, good).map((bad) => one(fromBody(bad)))
  const unknown =
    operation.method === 'GET' ? [] : unknownFieldEdges(body, json).map((bad) => one(fromBody(bad)))
  const parameters = Object.entries(query).flatMap(([name, schema]) => {
    const item = schema.type === 'array' ? (schema.items as Schema) : schema
    const values =
      item.type === 'integer'
        ? addressNumberEdges(item)
        : ['', ...(item.maxLength === undefined ? [] : ['x'.repeat(item.maxLength + 1), '\0'])]
    return values.map((value) =>
      one({
        kind: `query: ${name}`,
        rejection: { code: 'invalid_parameter', fields: [name] },
        change: { query: [[name, encode(value)]] },
      }),
    )
  })
  const ids =
    pathParameter === undefined || !operation.hasId
      ? []
      : addressNumberEdges(INT64).filter((value) => value !== '')
  const paths = ids.map((value) =>
    one({ kind: 'id: not an int64', rejection: { code: operation.notFound }, change: { id: encode(value) } }),
  )
  return [...fields, ...unknown, one(unknownParameter('x', '1')), ...parameters, ...paths]
}
