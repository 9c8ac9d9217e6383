// Generates the types of the client from openapi.json: schemas, queries and operations. Supports the part of JSON
// Schema that openapi.json uses, and throws on anything else.

export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  enum?: (string | null)[]
  items?: Schema
  oneOf?: Schema[]
  discriminator?: object
  not?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
  examples?: unknown[]
}

interface Parameter {
  name: string
  in: 'query' | 'path' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

interface Content {
  content?: { 'application/json'?: { schema: Schema } }
}

interface Operation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: Content
  responses: Record<string, Content>
}

export interface InterfaceDocument {
  components: { schemas: Record<string, Schema> }
  paths: Record<string, Record<string, Operation>>
}

/** JavaScript or browsers have types with the names of these schemas. */
const ERROR = 'Error'
const ERROR_TYPE = 'ErrorBody'
const TYPE_NAMES: Record<string, string> = { [ERROR]: ERROR_TYPE, Event: 'StoreEvent' }

/**
 * The `type` of an object that a later version has added. If it were any string, `event.type === 'pet.created'` would not
 * narrow the union to one variant.
 */
const FUTURE_TYPE = '`${string} (a type of a later version)`'

/** A field that only other variants of the union have: programs can read it without knowing the variant. */
const ABSENT: Schema = { type: 'undefined' }

/** Requests accept more types than responses contain: an id is `IdInput` in a request and `Id` in a response. */
type Direction = 'sent' | 'received'

const HEAD = `// Written by \`npm run openapi\` from openapi.json; do not edit.

/** An id in a response: all its decimal digits. */
export type Id = string

/** An id in a request: digits, a bigint, or an integer below 2^53. */
export type IdInput = string | number | bigint
`

export function clientTypes(document: InterfaceDocument): string {
  const { schemas } = document.components
  const operations = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ path, verb, operation })),
  )
  const sent = sentSchemas(document)
  const received = withParts(
    schemas,
    operations.map(({ operation }) => responseOf(operation)),
  )
  const both = [...sent].find((name) => received.has(name) && schemas[name]?.enum === undefined)
  if (both !== undefined)
    throw new Error(`${both} is used in a request and in a response, which need different types`)
  const shapes = Object.entries(withAbsentFields(schemas))
    .filter(([name]) => name !== ERROR)
    .map(([name, schema]) => shape(name, schema, sent.has(name) ? 'sent' : 'received'))
  const queries = operations.flatMap(({ operation }) => query(operation))
  return [
    HEAD,
    ...shapes,
    ...queries,
    errorTypes(schemas['Error'] as Schema),
    operationTypes(operations),
  ].join('\n')
}

/** The names of the schemas of bodies, and of their parts. */
export function sentSchemas({ components, paths }: InterfaceDocument): Set<string> {
  const operations = Object.values(paths).flatMap((verbs) => Object.values(verbs))
  return withParts(components.schemas, operations.map(bodyOf))
}

/** The names of these schemas, and of those that they refer to. */
function withParts(schemas: Record<string, Schema>, names: (string | undefined)[]): Set<string> {
  const all = new Set<string>()
  const add = (name: string) => {
    if (all.has(name)) return
    all.add(name)
    for (const [, part = ''] of JSON.stringify(schemas[name] ?? {}).matchAll(/"\$ref":"([^"]+)"/g))
      add(refName({ $ref: part }))
  }
  for (const name of names) if (name !== undefined) add(name)
  return all
}

/** Adds the fields of the other variants to each variant of a union. */
function withAbsentFields(schemas: Record<string, Schema>): Record<string, Schema> {
  const all = { ...schemas }
  for (const union of Object.values(schemas)) {
    const names = variantsOf(union).map((variant) => refName(variant))
    const variants = names.map((name) => schemas[name] ?? {})
    for (const [index, name] of names.entries()) all[name] = withFieldsOf(variants[index] ?? {}, variants)
  }
  return all
}

function withFieldsOf(schema: Schema, others: Schema[]): Schema {
  const names = new Set(others.flatMap(({ properties = {} }) => Object.keys(properties)))
  const complete = [...names].map((name) => {
    const own = schema.properties?.[name]
    if (own?.properties === undefined) return [name, own ?? ABSENT] as const
    return [
      name,
      withFieldsOf(
        own,
        others.map(({ properties }) => properties?.[name] ?? {}),
      ),
    ] as const
  })
  return { ...schema, properties: Object.fromEntries(complete) }
}

/** Its references, if the schema is a union of named schemas. */
function variantsOf({ discriminator, oneOf = [] }: Schema): Schema[] {
  return discriminator === undefined ? [] : oneOf
}

function shape(schemaName: string, schema: Schema, direction: Direction): string {
  const name = TYPE_NAMES[schemaName] ?? schemaName
  const comment = commentOf(schema.description)
  if (schema.properties === undefined) {
    const type = typeOf(schema, direction)
    return `${comment}export type ${name} =${type.startsWith('\n') ? '' : ' '}${type}\n`
  }
  return `${comment}export interface ${name} {\n${fields(schema, direction, '  ')}}\n`
}

function query(operation: Operation): string[] {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
  if (parameters.length === 0) return []
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description }) => [
      name,
      { ...schema, ...(description && { description }) },
    ]),
  )
  return [shape(queryName(operation), { properties }, 'sent')]
}

function errorTypes(error: Schema): string {
  const { code, details } = error.properties as Record<'code' | 'details', Schema>
  const codes = (code.examples as string[]).map((known) => `  | '${known}'`)
  return [
    '/** The error codes of this version of the service. */',
    `export type ErrorCode =\n${codes.join('\n')}`,
    '',
    shape('ErrorDetail', { description: 'One problem in a request.', ...details.items }, 'received'),
    shape(
      ERROR_TYPE,
      {
        ...error,
        description: 'An error as the service returns it.',
        properties: { ...error.properties, details: { ...details, items: { $ref: 'ErrorDetail' } } },
      },
      'received',
    ),
  ].join('\n')
}

function operationTypes(operations: { path: string; verb: string; operation: Operation }[]): string {
  const lines = operations.flatMap(({ path, verb, operation }) => {
    const body = bodyOf(operation)
    const hasQuery = query(operation).length > 0
    return [
      `  ${operation.operationId}: {`,
      `    method: '${verb.toUpperCase()}'`,
      `    path: ${path.includes('{') ? `\`${path.replaceAll(/\{\w+\}/g, '${string}')}\`` : `'${path}'`}`,
      `    query: ${hasQuery ? queryName(operation) : 'undefined'}`,
      `    body: ${body ?? 'undefined'}`,
      `    response: ${responseOf(operation) ?? 'undefined'}`,
      '  }',
    ]
  })
  return `/** All operations, with their paths, request types and response types. */\nexport interface Operations {\n${lines.join('\n')}\n}\n`
}

function fields(schema: Schema, direction: Direction, indent: string): string {
  return Object.entries(schema.properties ?? {})
    .map(([name, property]) => {
      requireIdName(name, property)
      const isRequired = schema.required?.includes(name) ?? false
      const type = typeOf(property, direction, indent)
      // In requests, an absent value can be undefined. Responses never contain undefined.
      const orUndefined = !isRequired && direction === 'sent' ? ' | undefined' : ''
      return `${commentOf(property.description, indent)}${indent}${name}${isRequired ? '' : '?'}: ${type}${orUndefined}\n`
    })
    .join('')
}

function typeOf(schema: Schema, direction: Direction, indent = ''): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema === ABSENT) return 'undefined'
  if (schema.not !== undefined) return FUTURE_TYPE
  const variants = variantsOf(schema)
  if (variants.length > 0) return variants.map((variant) => `\n  | ${typeOf(variant, direction)}`).join('')
  if (schema.enum !== undefined)
    return schema.enum.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ')
  if (Array.isArray(schema.type))
    return schema.type
      .map((type) => (type === 'null' ? type : typeOf({ ...schema, type }, direction, indent)))
      .join(' | ')
  if (schema.properties !== undefined) return `{\n${fields(schema, direction, `${indent}  `)}${indent}}`
  if (schema.format === 'int64') return direction === 'sent' ? 'IdInput' : 'Id'
  if (schema.type === 'integer') return 'number'
  if (schema.type === 'string') return 'string'
  if (schema.type === 'boolean') return 'boolean'
  if (schema.type === 'array' && schema.items !== undefined) {
    const item = typeOf(schema.items, direction, indent)
    if (item === 'Id') throw new Error('client/src/ids.ts does not support arrays of ids in responses')
    const list = item.includes('|') ? `(${item})[]` : `${item}[]`
    return direction === 'sent' ? `readonly ${list}` : list
  }
  throw new Error(`dev/client-types.ts does not know the schema ${JSON.stringify(schema)}`)
}

/** Throws if an id has a name that the client does not recognize: the client has no schema at run time. */
function requireIdName(name: string, schema: Schema): void {
  const isId = schema.format === 'int64' || schema.items?.format === 'int64'
  const isNumber = schema.type === 'integer' || schema.items?.type === 'integer'
  if (isNumber && isId !== /^(id|\w+Id)$/.test(name)) {
    throw new Error(
      `"${name}": int64 fields, and only these, must be named "id" or end in "Id"; see client/src/ids.ts`,
    )
  }
}

function bodyOf({ requestBody }: Operation): string | undefined {
  const reference = requestBody?.content?.['application/json']?.schema.$ref
  return reference === undefined ? undefined : nameOf(reference)
}

function responseOf({ responses }: Operation): string | undefined {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))
  const content = success?.[1].content ?? {}
  if ('text/csv' in content) return 'AsyncIterable<Uint8Array>'
  const reference = content['application/json']?.schema.$ref
  return reference === undefined ? undefined : nameOf(reference)
}

function queryName({ operationId }: Operation): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`
}

function nameOf(reference: string): string {
  const name = refName({ $ref: reference })
  return TYPE_NAMES[name] ?? name
}

function refName({ $ref = '' }: Schema): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}

function commentOf(description: string | undefined, indent = ''): string {
  return description === undefined ? '' : `${indent}/** ${description} */\n`
}
