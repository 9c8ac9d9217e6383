// Reads from openapi.json every operation with its parameters, body and responses, and finds the operation that creates
// what an id refers to. No operation is named here.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Schema {
  $ref?: string
  /** With `null` in the document, `isNullable` says so. */
  type?: string
  isNullable?: boolean
  format?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: false
  /** The alternatives of an object: exactly one of these fields. */
  oneOf?: { required: [string] }[]
  /** The fields whose faults are the results of an item, and do not reject the request. */
  'x-per-item'?: string[]
  /** Whether a header can occur several times. */
  'x-etags'?: true
  'x-not-with'?: string[]
  /** The value may depend on the value of the parameter itself. */
  'x-only-with'?: Record<string, string | Record<string, string>>
  'x-required-without'?: string
  /** No two items can have the same value. */
  'x-unique'?: true
  /** Max minutes from now to a time in the future. */
  'x-within-minutes'?: number
  /** Only the stored value is always accepted. */
  'x-needs-no-open-money'?: true
  /** Whether a list is one text with commas in a URL. */
  hasCommas?: boolean
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  description?: string
  explode?: boolean
  schema: Schema
  required?: boolean
}

interface Response {
  $ref?: string
  content?: {
    'application/json'?: { schema: Schema; examples: Record<string, unknown> }
  }
}

interface DescribedOperation {
  operationId: string
  'x-scope': string
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: { 'application/json': { schema: Schema } } }
  responses: Record<string, Response>
}

interface Document {
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> }
}

const document = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../openapi.json'), 'utf8'),
) as Document

/** Parameters or body fields, by name. */
export type Fields = Record<string, Schema>

export interface Operation {
  id: string
  /** Whether the response is not JSON: a stream or a file. Only few of them can be open at once. */
  isStream: boolean
  method: string
  /** As in the document: `/pets/{petId}`. */
  path: string
  /** The scopes that a key needs, separated by blanks; `any` if every key is allowed. */
  scope: string
  /** The last parameter of the path. */
  pathParameter: string | undefined
  /** Whether that parameter is a number that the service chose, and no text of the client. */
  hasId: boolean
  /** Whether the id belongs to an item of another collection, such as a delivery of a webhook. */
  isNested: boolean
  query: Fields
  /** The parameters whose pages can be short although more items follow, as their descriptions say. */
  canBeShort: Set<string>
  headers: Fields
  /** Whether each request needs an Idempotency-Key. */
  needsKey: boolean
  body: { fields: Fields; required: string[]; isOptional: boolean; ignoresUnknown: boolean } | undefined
  /** The success statuses. If there are two, the smaller one is for an item that already exists. */
  success: number[]
  /** The schema of a successful response; undefined without a body. */
  response: Schema | undefined
  /** Every error code that the document lists for it. */
  codes: Set<string>
  /** The error code if its id does not exist. */
  notFound: string
}

export function resolve(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  const own = name === undefined ? schema : (document.components.schemas[name] as Schema)
  return Array.isArray(own.type) ? withoutNull(own, own.type) : own
}

function withoutNull(schema: Schema, types: string[]): Schema {
  const type = types.find((one) => one !== 'null') ?? ''
  const values = schema.enum?.filter((one) => one !== null)
  return { ...schema, type, ...(values && { enum: values }), isNullable: types.includes('null') }
}

/** The path has this value, so a part of the body need not have it. */
function withoutOwn(fields: Fields, pathParameter: string | undefined): Fields {
  const without = (schema: Schema): Schema => {
    const { [pathParameter ?? '']: own, ...properties } = schema.properties ?? {}
    return own === undefined ? schema : { ...schema, properties }
  }
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, without(schema)]))
}

function resolveAll(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, resolve(schema)]))
}

function toOperation(path: string, method: string, described: DescribedOperation): Operation {
  const { operationId, parameters = [], requestBody, responses } = described
  const fieldsIn = (where: Parameter['in']) =>
    Object.fromEntries(
      parameters
        .filter((one) => one.in === where)
        .map(({ name, schema, explode }) => [
          name,
          explode === false ? { ...schema, hasCommas: true } : schema,
        ]),
    )
  const pathParameter = Object.keys(fieldsIn('path')).at(-1)
  const body = requestBody && resolve(requestBody.content['application/json'].schema)
  const success = Object.keys(responses).filter((status) => status.startsWith('2'))
  const response = responses[success[0] ?? '']?.content?.['application/json']?.schema
  const codesOf = (status: string) => {
    const shared = document.components.responses[responses[status]?.$ref?.split('/').at(-1) ?? '']
    return Object.keys(shared?.content?.['application/json']?.examples ?? {})
  }
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    scope: described['x-scope'],
    pathParameter,
    hasId: fieldsIn('path')[pathParameter ?? '']?.type !== 'string',
    isNested: Object.keys(fieldsIn('path')).length > 1,
    query: resolveAll(fieldsIn('query')),
    canBeShort: new Set(
      parameters
        .filter(({ description }) => description?.includes('A page can have fewer'))
        .map(({ name }) => name),
    ),
    headers: resolveAll(fieldsIn('header')),
    needsKey: parameters.some(({ name, required }) => name === 'idempotency-key' && required === true),
    body: body && {
      fields: withoutOwn(resolveAll(body.properties ?? {}), pathParameter),
      required: body.required ?? [],
      isOptional: !requestBody?.required,
      ignoresUnknown: body.additionalProperties !== false,
    },
    success: success.map(Number),
    isStream: success[0] !== '204' && response === undefined,
    response: response && resolve(response),
    codes: new Set(
      Object.keys(responses)
        .filter((status) => status >= '400')
        .flatMap(codesOf),
    ),
    notFound: notFoundOf(codesOf('404'), pathParameter),
  }
}

/** An operation on a nested item has several. That of its own id is named like the id: `deliveryId`, `delivery_not_found`. */
function notFoundOf(codes: string[], idName = ''): string {
  const own = `${idName.replace(/Id$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_not_found`
  return codes.find((code) => code === own) ?? codes[0] ?? 'route_not_found'
}

export const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([method, described]) => toOperation(path, method, described)),
)

export function findOperation(method: string, path: string): Operation | undefined {
  return OPERATIONS.find((operation) => operation.method === method && operation.path === path)
}

/** Every path of the document with the methods it supports, as `Allow` lists them. */
export const ADDRESSES: ReadonlyMap<string, string[]> = new Map(
  Object.keys(document.paths).map((path) => {
    const methods = OPERATIONS.filter((operation) => operation.path === path).map(({ method }) => method)
    return [path, [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort()]
  }),
)

/** The operation that creates what a parameter or field of this name refers to: `petId` comes from `POST /pets`. */
export function makerOf(idName: string | undefined): Operation | undefined {
  const item = OPERATIONS.find(({ path }) => path.endsWith(`/{${idName}}`) || path.includes(`/{${idName}}/`))
  return item && findOperation('POST', item.path.slice(0, item.path.indexOf('/{')))
}

/** The alternatives of an object, each with the schema of its field. */
export function alternativesOf({ oneOf = [], properties = {} }: Schema): [field: string, schema: Schema][] {
  return oneOf.map(({ required: [field] }) => [field, resolve(properties[field] as Schema)])
}

/** The operation that reads what another one created or changed, by its id. */
export function readerOf({ path, pathParameter }: Operation): Operation | undefined {
  const own = pathParameter === undefined ? undefined : findOperation('GET', path)
  if (own !== undefined) return own
  const item =
    pathParameter === undefined
      ? OPERATIONS.find((other) => other.method === 'GET' && other.path.startsWith(`${path}/{`))?.path
      : path.slice(0, path.indexOf('}') + 1)
  return item === undefined ? undefined : findOperation('GET', item)
}

/** The list that contains the items of an operation. */
export function listOf({ path }: Operation): Operation | undefined {
  const [collection = path] = path.split('/{')
  return findOperation('GET', collection)
}

/** The other parameters that a value of a parameter requires, with their values, and what those require. */
export function requirementsOf(query: Fields, parameter: string, own: unknown): Record<string, string> {
  const all: Record<string, string> = {}
  for (const [name, needed] of Object.entries(query[parameter]?.['x-only-with'] ?? {})) {
    const value = typeof needed === 'string' ? needed : (needed[String(own)] ?? '')
    Object.assign(all, requirementsOf(query, name, value), { [name]: value })
  }
  return all
}

/** Whether the parameter cannot be combined with another one, or with the value that this one has. */
export function isExcluded(query: Fields, parameter: string, others: Record<string, unknown>): boolean {
  return (query[parameter]?.['x-not-with'] ?? []).some((other) => {
    const [name = '', value] = other.split('=')
    return name in others && (value === undefined || others[name] === value)
  })
}

/** The parameters that are required if another one is absent, with a list that is not empty. */
export function conditionalOf(query: Fields): [name: string, schema: Schema][] {
  return Object.entries(query)
    .filter(([, schema]) => schema['x-required-without'] !== undefined)
    .map(([name, schema]) => [name, { ...schema, minItems: 1 }])
}

/** Whether the operation is a read that succeeds without an id and without parameters. */
export function isPlainRead({ method, pathParameter, isStream, query }: Operation): boolean {
  return method === 'GET' && pathParameter === undefined && !isStream && conditionalOf(query).length === 0
}

/** Whether the operation changes the API key of the request. Each request then needs a key of its own. */
export function isOnOwnKey({ method, pathParameter }: Operation): boolean {
  return method === 'DELETE' && pathParameter === undefined
}

/** Whether a valid value of the parameter is the position of an event, which only the service can make. */
export function isPosition(parameter: string): boolean {
  return parameter === 'after'
}

/** Whether only the service can make valid values, such as cursors: other values have an error code of their own. */
export function isOpaque(operation: Operation, parameter: string): boolean {
  return operation.codes.has(`invalid_${parameter}`)
}
