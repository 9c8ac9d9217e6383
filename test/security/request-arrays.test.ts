// Every array in a request has a maximum length, because validation reads each entry.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

type Node = Record<string, unknown>

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string; parameters?: Node[]; requestBody?: Node }>>
}

/** Every array schema below a node, including those behind references. */
function arraysIn(node: unknown, path: string): { path: string; maxItems: unknown }[] {
  if (typeof node !== 'object' || node === null) return []
  const { $ref, type, maxItems } = node as Node
  const target = typeof $ref === 'string' ? $ref.slice('#/'.length).split('/') : []
  const referenced = target.reduce<unknown>(
    (at, name) => (at as Node)[name],
    target.length > 0 ? document : null,
  )
  return [
    ...(type === 'array' ? [{ path, maxItems }] : []),
    ...arraysIn(referenced, path),
    ...Object.entries(node).flatMap(([key, value]) =>
      key === 'examples' || key === 'example' ? [] : arraysIn(value, `${path}.${key}`),
    ),
  ]
}

test('every array in a request has maxItems', () => {
  const arrays = Object.values(document.paths)
    .flatMap((verbs) => Object.values(verbs))
    .flatMap(({ operationId, parameters, requestBody }) => arraysIn({ parameters, requestBody }, operationId))
  expect(arrays.length).toBeGreaterThanOrEqual(2)
  expect(arrays.filter(({ maxItems }) => !Number.isInteger(maxItems))).toEqual([])
})
