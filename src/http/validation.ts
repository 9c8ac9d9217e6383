// Validates requests against the schemas of the operations and reports every fault. Ids become bigints, and their range
// is checked exactly. Numbers in a URL must be plain digits. Text must be storable in PostgreSQL. Does not convert
// other types and does not fill in defaults.
import { Ajv, type ErrorObject, type SchemaValidateFunction, type ValidateFunction } from 'ajv'
import { AppError, type DetailCode, type ErrorCode, type ErrorDetail } from '../contract/errors.ts'
import { isOptionalBody } from '../contract/named-schema.ts'
import { parseDateTime } from '../values/date-time.ts'
import { idInRange, INT64_MAX, parseId } from '../values/int64.ts'
import { isCurrency } from '../values/money.ts'
import { isTimeZone } from '../values/time-zone.ts'
import { isEntityTagList } from './etag.ts'
import { describeUnknownFields, headerName } from './strict-requests.ts'

type Schema = Record<string, unknown>
type Validator = (data: unknown) => { value?: unknown } | { error: AppError }
interface RouteSchema {
  schema: unknown
  httpPart?: string
}

/**
 * Without a value, because the checks change the data in place. Fastify would store a value for each part of each request, and
 * would then copy the headers at each access.
 */
const VALID = {}

/** Fastify calls this function once, with the schemas that other schemas refer to. */
export function buildValidator(sharedSchemas: Record<string, unknown> | undefined) {
  const shared = Object.values(sharedSchemas ?? {}) as Schema[]
  const fromBody = newAjv(shared, readBodyId)
  const fromText = newAjv(shared, readTextId)

  return ({ schema, httpPart }: RouteSchema): Validator => {
    const { properties = {}, notFound } = schema as {
      properties?: Record<string, Schema>
      notFound?: ErrorCode
    }
    const isBody = httpPart === 'body'
    const isOptional = isBody && isOptionalBody(schema)
    let compiled: ValidateFunction | undefined
    const lists = Object.keys(properties).filter((name) => !isBody && properties[name]?.['type'] === 'array')
    const ofOne = new Set(lists.filter((name) => properties[name]?.['explode'] === false))

    return (data) => {
      // Fastify passes null for a missing body. json-body.ts replaces the JSON value null with a symbol.
      if (isOptional && (data === null || typeof data === 'symbol')) return { value: {} }
      if (isBody && data === null) return { error: new AppError('missing_body') }
      for (const name of lists) readList(data as Record<string, unknown>, name, ofOne.has(name))
      // On the first request: compiling all schemas would take a quarter of the CPU time of a start.
      compiled ??= (isBody ? fromBody : fromText).compile(translate(schema, !isBody) as Schema)
      if (compiled(data)) return VALID
      const code =
        httpPart === 'params'
          ? (notFound ?? 'route_not_found')
          : isBody
            ? 'invalid_body'
            : 'invalid_parameter'
      if (httpPart === 'params') return { error: new AppError(code) }
      const faults = faultsOf(compiled.errors ?? [])
      const details = isBody ? faults.flatMap(describeBodyFault) : describeTextFaults(faults, httpPart)
      return { error: new AppError(code, { details }) }
    }
  }
}

/**
 * If a repeatable query parameter is sent only once, Fastify parses it as text instead of an array. A list in one parameter
 * has commas between its values; sent twice, it becomes a value that is an array, which is rejected.
 */
function readList(query: Record<string, unknown>, name: string, isInOne: boolean): void {
  const sent = query[name]
  if (typeof sent === 'string') query[name] = isInOne ? sent.split(',') : [sent]
  else if (isInOne && sent !== undefined) query[name] = [sent]
}

/** Adds custom keywords for the rules that standard JSON Schema keywords cannot check exactly. */
function translate(schema: unknown, isText: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((part) => translate(part, isText))
  if (typeof schema !== 'object' || schema === null) return schema
  const { type, format, minimum, maximum, additionalProperties, ...rest } = schema as Schema
  const notWith = defined({ 'x-not-with': rest['x-not-with'] })
  if (type === 'integer' && format === 'int64') return { int64: true, ...notWith }
  if (type === 'integer' && isText) return { digits: [minimum, maximum], ...notWith }
  const translated = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, key === 'enum' ? value : translate(value, isText)]),
  )
  if (type === 'array') return { type, ...boundWork(translated) }
  // The operation checks these values, because a fault is the result of one item.
  for (const name of (rest['x-per-item'] ?? []) as string[])
    (translated['properties'] as Schema)[name] = { type: 'object' }
  const alternatives = requireAlternatives((rest['properties'] ?? {}) as Record<string, Schema>)
  if (alternatives.length > 0) translated['allOf'] = alternatives
  // With an enum, the type is redundant. Checking both would report one fault twice.
  if (rest['enum'] !== undefined) return translated
  return {
    ...defined({ type, format, minimum, maximum }),
    ...translated,
    ...(additionalProperties === false && { declared: Object.keys(rest['properties'] as Schema) }),
    // The format rejects everything that is not storable. Checking both would report one fault twice.
    ...([type].flat().includes('string') && format === undefined && { storable: true }),
  }
}

/**
 * Validates the entries of an array only if their number is within `maxItems`. With `allErrors`, Ajv continues after a
 * `maxItems` fault: checking 100,000 entries for duplicates took 250 s, and every entry could add a detail.
 */
function boundWork({ items, uniqueItems, ...rest }: Schema): Schema {
  const entries = defined({ items, uniqueItems })
  if (rest['maxItems'] === undefined) return { ...rest, ...entries }
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; nothing awaits a schema.
  return { ...rest, if: { maxItems: rest['maxItems'] }, then: entries }
}

/** A parameter that is required if another one is absent. JSON Schema cannot express this at the parameter itself. */
function requireAlternatives(properties: Record<string, Schema>): Schema[] {
  return Object.entries(properties)
    .filter(([, schema]) => schema['x-required-without'] !== undefined)
    .map(([name, schema]) => ({
      if: { not: { required: [schema['x-required-without']] } },
      // oxlint-disable-next-line unicorn/no-thenable -- as above.
      then: { required: [name] },
    }))
}

/** Removes the additional faults that Ajv reports for each `if` above, and for each alternative of `oneOf`. */
function faultsOf(errors: ErrorObject[]): ErrorObject[] {
  return errors.filter(({ keyword, schemaPath }) => keyword !== 'if' && !schemaPath.includes('/oneOf/'))
}

function defined(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}

function newAjv(shared: Schema[], readId: (data: unknown) => bigint | undefined): Ajv {
  // The schemas are constant, so Ajv need not validate them: compiling its meta-schema takes as long as all of them.
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
  addChecks(ajv)
  // Parameters that cannot be combined: `name`, or `name=value` for one value. JSON Schema can express this only for the
  // whole query, not for one parameter.
  ajv.addKeyword({
    keyword: 'x-not-with',
    errors: false,
    validate: ((others: string[], _data, _parentSchema, context) =>
      !others.some((other) => {
        const [name = '', value] = other.split('=')
        const sent: unknown = context?.parentData?.[name]
        return sent !== undefined && (value === undefined || sent === value)
      })) as SchemaValidateFunction,
  })
  // A parameter that is allowed only if other parameters have these values.
  ajv.addKeyword({
    keyword: 'x-only-with',
    errors: false,
    validate: ((needed: Needed, data, schema, context) =>
      // Otherwise, an invalid value would be reported twice.
      (schema?.['enum'] as unknown[] | undefined)?.includes(data) === false ||
      neededBy(needed, data).every(
        ([name, value]) => context?.parentData?.[name] === value,
      )) as SchemaValidateFunction,
  })
  addFormats(ajv)
  for (const schema of shared) ajv.addSchema(translate(schema, readId === readTextId) as Schema)
  return ajv
}

/** Keywords that depend on nothing but the value. */
function addChecks(ajv: Ajv): void {
  // PostgreSQL cannot store NUL or a lone surrogate.
  ajv.addKeyword({
    keyword: 'storable',
    type: 'string',
    errors: false,
    validate: (_schema: unknown, text: string) => text.isWellFormed() && !text.includes('\0'),
  })
  // Instead of `additionalProperties`, which has a fault for each of many thousand unknown fields.
  ajv.addKeyword({
    keyword: 'declared',
    type: 'object',
    errors: false,
    validate: (names: string[], data: object) => Object.keys(data).every((name) => names.includes(name)),
  })
  // Only say so in openapi.json: the database checks them.
  ajv.addKeyword({ keyword: 'x-unique' })
  // The rules of orders check it: the clock of the database decides.
  ajv.addKeyword({ keyword: 'x-within-minutes' })
  ajv.addKeyword({ keyword: 'x-needs-no-open-money' })
  // Not a format, because that would count as a change that breaks clients.
  ajv.addKeyword({
    keyword: 'x-etags',
    type: 'string',
    errors: false,
    validate: (_schema: unknown, text: string) => isEntityTagList(text),
  })
}

function addFormats(ajv: Ajv): void {
  ajv.addFormat('time-zone', isTimeZone)
  ajv.addFormat('date-time', (text: string) => parseDateTime(text) !== undefined)
  ajv.addFormat('uri', isWebUrl)
  ajv.addFormat('amount', /^(0|[1-9][0-9]{0,9})(\.[0-9]{1,4})?$/)
  ajv.addFormat('currency', isCurrency)
  ajv.addFormat('date', isDate)
  ajv.addFormat('single-line', (text) => text.isWellFormed() && !/\p{Cc}/u.test(text))
  ajv.addFormat('multi-line', (text) => text.isWellFormed() && !/[^\P{Cc}\r\n]/u.test(text))
  // Only the feed knows which positions are valid.
  ajv.addFormat('position', true)
}

/** The value that another parameter must have, for each value of this parameter if it depends on that. */
type Needed = Record<string, string | Record<string, string>>

function neededBy(needed: Needed, data: unknown): [name: string, value: string | undefined][] {
  return Object.entries(needed).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : value[String(data)],
  ])
}

/** Makes a check that parses a value and replaces it with the result. The check fails if `read` returns undefined. */
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

/** A date of the calendar in or after 1900. PostgreSQL also accepts other forms, such as `infinity`. */
function isDate(text: string): boolean {
  if (!/^(?!0|1[0-8])[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return false
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** The max length of a URL in the schemas. A longer text has one fault, not two. */
const URL_LENGTH_MAX = 2_048

/** Without blanks and control characters, which the parser of URLs would remove. */
function isWebUrl(text: string): boolean {
  if (Array.from(text).length > URL_LENGTH_MAX) return true
  return /^https?:\/\/[^\s\\\p{Cc}]+$/iu.test(text) && text.isWellFormed() && URL.canParse(text)
}

type Description = [code: DetailCode, message: string]
type Describe = (params: Record<string, unknown>, schema: unknown, data: unknown) => Description

const UNKNOWN_FAULT: Description = ['invalid_value', 'is not valid.']

const FORMATS: Record<string, Description> = {
  amount: [
    'invalid_format',
    'must be an amount as text, such as 129.00, with at most 10 digits before the point.',
  ],
  currency: ['invalid_format', 'must be a code of ISO 4217, such as EUR.'],
  date: ['invalid_format', 'must be a date in or after 1900, such as 2025-05-31.'],
  'date-time': [
    'invalid_format',
    'must be a date-time of RFC 3339 with at most 6 decimal places, such as 2026-11-15T00:00:00Z. In a URL, write + as %2B.',
  ],
  'single-line': ['invalid_text', 'must be well-formed Unicode without control characters.'],
  'multi-line': [
    'invalid_text',
    'must be well-formed Unicode without control characters other than line breaks.',
  ],
  'time-zone': ['unknown_time_zone', 'must be the name of a time zone, such as Europe/Berlin.'],
  uri: [
    'invalid_url',
    'must be an absolute URL that starts with https: or http:, such as https://shop.example/hooks.',
  ],
}

/** The pattern of texts that are not blank. */
const NOT_BLANK = String.raw`\S`

const FAULTS: Record<string, Describe> = {
  required: () => ['missing', 'is required.'],
  type: ({ type }) => ['wrong_type', `must be of type ${[type].flat().join(' or ')}.`],
  int64: () => ['invalid_integer', `must be an integer from 1 to ${INT64_MAX}.`],
  digits: (_params, range) => [
    'invalid_integer',
    `must be an integer from ${(range as number[]).join(' to ')}.`,
  ],
  minimum: ({ limit }) => ['out_of_range', `must be at least ${limit}.`],
  maximum: ({ limit }) => ['out_of_range', `must be at most ${limit}.`],
  minItems: ({ limit }) => ['too_few', `must have at least ${entriesText(limit)}.`],
  uniqueItems: () => ['repeated', 'must not contain duplicates.'],
  minLength: ({ limit }) => ['too_short', `must have at least ${charactersText(limit)}.`],
  maxLength: ({ limit }) => ['too_long', `must have at most ${charactersText(limit)}.`],
  maxItems: ({ limit }) => ['too_many', `must have at most ${entriesText(limit)}.`],
  pattern: ({ pattern }) =>
    pattern === NOT_BLANK
      ? ['blank', 'must not be blank.']
      : ['invalid_format', `must match the pattern ${pattern}`],
  'x-etags': () => ['invalid_etag', 'must be an ETag in quotes, such as "3".'],
  storable: () => ['invalid_text', 'must be well-formed Unicode without NUL.'],
  'x-not-with': (_params, others) => [
    'not_allowed',
    `cannot be combined with ${(others as string[]).join(' or ')}.`,
  ],
  'x-only-with': (_params, needed, data) => [
    'not_allowed',
    `can be used only with ${neededBy(needed as Needed, data)
      .map(([name, value]) => `${name}=${value}`)
      .join(' and ')}.`,
  ],
  format: ({ format }) => FORMATS[format as string] ?? UNKNOWN_FAULT,
  oneOf: (_params, alternatives) => [
    'invalid_value',
    `must have exactly one of ${(alternatives as { required: string[] }[]).flatMap(({ required }) => required).join(', ')}.`,
  ],
  enum: ({ allowedValues }) => ['not_allowed', `must be ${choiceText(allowedValues as string[])}.`],
}

/** A list can have a single value. */
function choiceText(values: readonly string[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`
}

function entriesText(limit: unknown): string {
  return `${limit} ${limit === 1 ? 'entry' : 'entries'}`
}

function charactersText(limit: unknown): string {
  return `${limit} ${limit === 1 ? 'character' : 'characters'}`
}

function describe({ keyword, params, schema, data }: ErrorObject): Description {
  return FAULTS[keyword]?.(params, schema, data) ?? UNKNOWN_FAULT
}

function describeBodyFault(fault: ErrorObject): ErrorDetail[] {
  const { keyword, instancePath, params, schema, data } = fault
  if (keyword === 'declared') {
    const path = instancePath === '' ? '' : `${instancePath.slice(1).replaceAll('/', '.')}.`
    return describeUnknownFields(data as object, path, schema as string[])
  }
  const field =
    keyword === 'required' ? params['missingProperty'] : instancePath.slice(1).replaceAll('/', '.')
  const [code, text] = describe(fault)
  return [{ field, code, message: field === '' ? `The body ${text}` : `${field} ${text}` }]
}

/** Keywords that fail if a parameter is sent more than once, because Fastify then parses it as an array. */
const OF_ONE_VALUE = new Set(['type', 'enum', 'int64', 'digits'])

/** Faults of a query or of headers. A detail names the parameter, which may be a list with several equal faults. */
function describeTextFaults(faults: ErrorObject[], httpPart: string | undefined): ErrorDetail[] {
  const details = faults.map((fault): ErrorDetail => {
    const { keyword, instancePath, params, data } = fault
    const field: string =
      keyword === 'required' ? params['missingProperty'] : (instancePath.split('/')[1] ?? '')
    const isRepeated = Array.isArray(data) && OF_ONE_VALUE.has(keyword)
    const [code, text]: Description = isRepeated ? ['repeated', 'can be sent only once.'] : describe(fault)
    const name = httpPart === 'headers' ? headerName(field) : field
    return { field, code, message: `${name} ${text}` }
  })
  return [...new Map(details.map((detail) => [detail.message, detail])).values()]
}
