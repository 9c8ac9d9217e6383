// Rules of every schema of a request: arrays have a maximum length, because validation reads each entry, and objects have no
// unknown fields.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

type Node = Record<string, unknown>

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string; parameters?: Node[]; requestBody?: Node }>>
}

/** Every schema of a type below a node, including those behind references. */
function schemasIn(node: unknown, wanted: string, path: string): { path: string; schema: Node }[] {
  if (typeof node !== 'object' || node === null) return []
  const { $ref, type } = node as Node
  const target = typeof $ref === 'string' ? $ref.slice('#/'.length).split('/') : []
  const referenced = target.reduce<unknown>(
    (at, name) => (at as Node)[name],
    target.length > 0 ? document : null,
  )
  return [
    ...(type === wanted ? [{ path, schema: node as Node }] : []),
    ...schemasIn(referenced, wanted, path),
    ...Object.entries(node).flatMap(([key, value]) =>
      key === 'examples' || key === 'example' ? [] : schemasIn(value, wanted, `${path}.${key}`),
    ),
  ]
}

function inRequests(type: string): { path: string; schema: Node }[] {
  return Object.values(document.paths)
    .flatMap((verbs) => Object.values(verbs))
    .flatMap(({ operationId, parameters, requestBody }) =>
      schemasIn({ parameters, requestBody }, type, operationId),
    )
}

test('every array in a request has maxItems', () => {
  const arrays = inRequests('array')
  expect(arrays.length).toBeGreaterThanOrEqual(2)
  expect(arrays.filter(({ schema }) => !Number.isInteger(schema['maxItems']))).toEqual([])
})

test('every object in a request rejects unknown fields, except a new pet', () => {
  const objects = inRequests('object')
  expect(objects.length).toBeGreaterThanOrEqual(15)
  const open = objects.filter(({ schema }) => schema['additionalProperties'] !== false)
  expect(open.map(({ path }) => path)).toEqual(['createPet.requestBody.content.application/json.schema'])
})
