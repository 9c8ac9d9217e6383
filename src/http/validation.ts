// Validation by the schemas of the operations, in one translation for all of them: ids become bigints with
// their exact range, query numbers are plain digits, and text must be such as PostgreSQL can keep.
// Nothing is coerced, nothing is filled in, every fault is reported.
import { Ajv, type ErrorObject, type SchemaValidateFunction } from 'ajv'
import { AppError, type ErrorCode, type ErrorDetail } from '../errors.ts'
import { idInRange, INT64_MAX, parseId } from '../int64.ts'

type Schema = Record<string, unknown>
type Validator = (data: unknown) => { value: unknown } | { error: AppError }
interface RouteSchema {
  schema: unknown
  httpPart?: string
}

/** What Fastify calls once for the application, with the schemas that others refer to. */
export function buildValidator(sharedSchemas: Record<string, unknown> | undefined) {
  const coalesced = Object.values(sharedSchemas ?? {}) as Schema[]
  const fromBody = newAjv(coalesced, readBodyId)
  const fromText = newAjv(coalesced, readTextId)

  return ({ schema, httpPart }: RouteSchema): Validator => {
    const { properties = {}, notFound } = schema as {
      properties?: Record<string, Schema>
      notFound?: ErrorCode
    }
    const isBody = httpPart === 'body'
    const validate = (isBody ? fromBody : fromText).compile(translate(schema, !isBody) as Schema)
    const lists = Object.keys(properties).filter((name) => !isBody && properties[name]?.['type'] === 'array')

    return (data) => {
      // Fastify says null for no body; json-body.ts says something else for a body that says null.
      if (isBody && data === null) return { error: new AppError('missing_body') }
      for (const name of lists) wrapInList(data as Record<string, unknown>, name)
      if (validate(data)) return { value: data }
      const code =
        httpPart === 'params'
          ? (notFound ?? 'route_not_found')
          : isBody
            ? 'invalid_body'
            : 'invalid_parameter'
      const details = httpPart === 'params' ? undefined : faultsOf(validate.errors ?? []).map(describeFault)
      return { error: new AppError(code, details && { details }) }
    }
  }
}

/** A parameter that may be repeated arrives as text when it is given once. */
function wrapInList(query: Record<string, unknown>, name: string): void {
  if (typeof query[name] === 'string') query[name] = [query[name]]
}

/** Replaces what JSON Schema cannot say exactly by keywords of our own. */
function translate(schema: unknown, isText: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((part) => translate(part, isText))
  if (typeof schema !== 'object' || schema === null) return schema
  const { type, format, minimum, maximum, ...rest } = schema as Schema
  if (type === 'integer' && format === 'int64') return { int64: true }
  if (type === 'integer' && isText) return { digits: [minimum, maximum] }
  const translated = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, key === 'enum' ? value : translate(value, isText)]),
  )
  if (type === 'array') return { type, ...boundWork(translated) }
  // A list of values says all: naming the type as well would report one fault twice.
  if (rest['enum'] !== undefined) return translated
  return {
    ...defined({ type, format, minimum, maximum }),
    ...translated,
    ...(type === 'string' && { storable: true }),
  }
}

/**
 * Looks at the entries of an array only if it has no more than its limit. Reporting all faults, Ajv would go on after
 * `maxItems`: 250 s for 100,000 entries that must differ, and a detail for each of them.
 */
function boundWork({ items, uniqueItems, ...rest }: Schema): Schema {
  const entries = defined({ items, uniqueItems })
  if (rest['maxItems'] === undefined) return { ...rest, ...entries }
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; nothing awaits a schema.
  return { ...rest, if: { maxItems: rest['maxItems'] }, then: entries }
}

/** Without the fault that Ajv adds when the entries of an array have one. */
function faultsOf(errors: ErrorObject[]): ErrorObject[] {
  return errors.filter(({ keyword }) => keyword !== 'if')
}

function defined(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}

function newAjv(coalesced: Schema[], readId: (data: unknown) => bigint | undefined): Ajv {
  // The schemas are ours and the same in every start: to compile the schema of schemas would take as long as all of them.
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, meta: false, validateSchema: false })
  ajv.addKeyword({
    keyword: 'int64',
    modifying: true,
    errors: false,
    validate: replaceBy(readId),
  })
  ajv.addKeyword({
    keyword: 'digits',
    modifying: true,
    errors: false,
    validate: (([min, max]: [number, number], data, _schema, context) =>
      replaceBy((text) => readDigits(text, min, max))(
        null,
        data,
        undefined,
        context,
      )) as SchemaValidateFunction,
  })
  // PostgreSQL keeps neither NUL nor half of a surrogate pair.
  ajv.addKeyword({
    keyword: 'storable',
    type: 'string',
    errors: false,
    validate: (_schema: unknown, text: string) => text.isWellFormed() && !text.includes('\0'),
  })
  // Parameters that exclude each other, which JSON Schema can only say of the whole.
  ajv.addKeyword({
    keyword: 'x-not-with',
    errors: false,
    validate: ((others: string[], _data, _parentSchema, context) =>
      !others.some((other) => other in (context?.parentData ?? {}))) as SchemaValidateFunction,
  })
  for (const schema of coalesced) ajv.addSchema(translate(schema, readId === readTextId) as Schema)
  return ajv
}

/** A check that also puts the value it read in the place of the one that was sent. */
function replaceBy(read: (data: unknown) => number | bigint | undefined): SchemaValidateFunction {
  return (_schema, data, _parentSchema, context) => {
    const value = read(data)
    if (value === undefined || context === undefined) return false
    context.parentData[context.parentDataProperty] = value
    return true
  }
}

function readBodyId(data: unknown): bigint | undefined {
  if (typeof data === 'bigint') return idInRange(data)
  return Number.isSafeInteger(data) ? idInRange(BigInt(data as number)) : undefined
}

function readTextId(data: unknown): bigint | undefined {
  return typeof data === 'string' ? parseId(data) : undefined
}

function readDigits(data: unknown, min: number, max: number): number | undefined {
  const value = typeof data === 'string' && /^[0-9]{1,19}$/.test(data) ? Number(data) : undefined
  return value !== undefined && value >= min && value <= max ? value : undefined
}

type Describe = (params: Record<string, unknown>, schema: unknown) => [code: string, message: string]

const FAULTS: Record<string, Describe> = {
  required: () => ['missing', 'is required.'],
  type: ({ type }) => ['wrong_type', `must be of type ${type}.`],
  int64: () => ['invalid_integer', `must be an integer from 1 to ${INT64_MAX}.`],
  digits: (_params, range) => [
    'invalid_integer',
    `must be a whole number from ${(range as number[]).join(' to ')}.`,
  ],
  minimum: ({ limit }) => ['out_of_range', `must be at least ${limit}.`],
  maximum: ({ limit }) => ['out_of_range', `must be at most ${limit}.`],
  minItems: ({ limit }) => ['too_few', `must have at least ${limit} entry.`],
  uniqueItems: () => ['repeated', 'must not hold anything twice.'],
  minLength: ({ limit }) => ['too_short', `must have at least ${limit} character.`],
  maxLength: ({ limit }) => ['too_long', `must have at most ${limit} characters.`],
  maxItems: ({ limit }) => ['too_many', `may be given at most ${limit} times.`],
  pattern: () => ['blank', 'must not be blank.'],
  storable: () => ['invalid_text', 'must be well-formed Unicode without NUL.'],
  'x-not-with': (_params, others) => [
    'not_allowed',
    `cannot be combined with ${(others as string[]).join(' or ')}.`,
  ],
  enum: ({ allowedValues }) => ['not_allowed', `must be one of ${(allowedValues as string[]).join(', ')}.`],
}

function describeFault({ keyword, instancePath, params, schema }: ErrorObject): ErrorDetail {
  const field =
    keyword === 'required' ? params['missingProperty'] : instancePath.slice(1).replaceAll('/', '.')
  const [code, text] = FAULTS[keyword]?.(params, schema) ?? ['invalid', 'is not valid.']
  return { field, code, message: field === '' ? `The body ${text}` : `${field} ${text}` }
}
