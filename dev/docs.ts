// `node dev/docs.ts`: writes the generated tables of the docs, each between its two markers. With --check, only
// reports tables that do not match the code. `npm run openapi` and `npm run check` call it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { say } from '../src/cli/terminal/terminal.ts'
import { CLIENT_VARIABLES, VARIABLES } from '../src/config/config.ts'
import { DETAIL_CODES, ERRORS } from '../src/contract/errors.ts'
import { FILTERS } from '../src/store/pets/filters.ts'
import { ListPetsQuery } from '../src/store/pets/schema.ts'
import { ALERT_NAMES, alertOf, anchorOf } from '../src/telemetry/alerts.ts'
import { CLIENT_METHODS, operationOf, REJECTION, requestsOf } from './client-methods.ts'
import { LIST_DEFAULTS, PROCESS_LIMITS } from './limits.ts'
import { deliveryMetrics, serviceMetrics } from './metrics.ts'
import { type Column, readSchema, type Table } from './schema.ts'

const ROOT = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

interface Operation {
  operationId: string
  summary: string
  deprecated?: boolean
  'x-scope': string
  'x-retry': keyof typeof RETRY_TEXTS
  /** Reads have none. */
  'x-retry-effect'?: string
  requestBody?: { content: { 'application/json': { schema: { $ref: string } } } }
  responses: Record<string, { $ref?: string }>
}

const RETRY_TEXTS = {
  safe: 'yes',
  'with If-Match': 'with `If-Match`',
  'with Idempotency-Key': 'with an `Idempotency-Key`',
  never: 'no',
}

/** The client sends an `Idempotency-Key` with each operation that accepts one. */
const RETRIED_BY_CLIENT: typeof RETRY_TEXTS = {
  ...RETRY_TEXTS,
  'with If-Match': 'with `ifMatch`',
  'with Idempotency-Key': 'yes, with the same `Idempotency-Key`',
}

/** Errors that most operations share, or that every operation can return. */
const COMMON_STATUSES = new Set(['400', '401', '403', '503', 'default'])

type Setting = keyof typeof VARIABLES

/** The settings that most stores set. */
const COMMON: ReadonlySet<string> = new Set<Setting>([
  'DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'PUBLIC_URL',
  'TRUST_PROXY',
  'CORS_ORIGINS',
  'CURRENCY',
  'TIME_ZONE',
  'HOLD_MINUTES',
  'OIDC_ISSUER',
])

/** The headings of docs/configuration.md, and the settings below each. */
const TASKS: Record<string, RegExp> = {
  'Connect to PostgreSQL': /DATABASE_/,
  'Accept requests': /^(HOST|PORT|SHARE_PORT|PUBLIC_URL|TRUST_PROXY|CORS_ORIGINS|SHUTDOWN_GRACE_MS)$/,
  'Run the store': /^(CURRENCY|TIME_ZONE|HOLD_MINUTES|CATEGORIES|PETSTORE_ENV)$/,
  'Let people sign in': /^OIDC_/,
  'Limit callers': /LIMIT_PER_SECOND$/,
  'Send events and webhooks': /^(EVENT|WEBHOOK)/,
  'Log and monitor': /^(LOG|ADMIN)_/,
  'Trace requests': /^OTEL_/,
}

const TABLES: Record<string, { document: string; table: () => string | Promise<string> }> = {
  errors: { document: 'docs/errors.md', table: errorTable },
  'detail codes': { document: 'docs/errors.md', table: detailCodeTable },
  variables: { document: 'docs/configuration.md', table: settingsByTask },
  'variables for users': { document: 'docs/command-line.md', table: () => variableTable(CLIENT_VARIABLES) },
  limits: {
    document: 'docs/evidence/scale.md',
    table: () => tableOf(['Limit of one process', 'Value', 'Beyond it'], PROCESS_LIMITS),
  },
  operations: { document: 'docs/interface.md', table: operationTable },
  'parameters of listPets': { document: 'docs/interface.md', table: petListTable },
  lists: {
    document: 'docs/interface.md',
    table: () => tableOf(['List', 'Sort order', 'Default `limit`'], LIST_DEFAULTS),
  },
  retries: { document: 'docs/retries.md', table: retryTable },
  methods: { document: 'client/README.md', table: methodTable },
  alerts: { document: 'docs/runbook.md', table: alertTable },
  scopes: { document: 'docs/access.md', table: scopeTable },
  metrics: { document: 'deploy/monitoring/metrics.md', table: metricTable },
  'picture of the tables': { document: 'docs/schema.md', table: schemaPicture },
  tables: { document: 'docs/schema.md', table: schemaTables },
}

function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, fix }]) => [String(status), `\`${code}\``, fix])
  return tableOf(['Status', 'Code', 'What to do'], rows)
}

function detailCodeTable(): string {
  const rows = Object.entries(DETAIL_CODES).map(([code, meaning]) => [`\`${code}\``, meaning])
  return tableOf(['Code in `details`', 'Meaning'], rows)
}

/** One table for each task. Every setting belongs to one task. */
function settingsByTask(): string {
  const taskOf = (name: string) => {
    const [task, ...others] = Object.keys(TASKS).filter((heading) => TASKS[heading]?.test(name))
    if (task !== undefined && others.length === 0) return task
    throw new Error(`${name} must belong to one task of dev/docs.ts`)
  }
  const byTask = Map.groupBy(Object.entries(VARIABLES), ([name]) => taskOf(name))
  return Object.keys(TASKS)
    .map((task) => `## ${task}\n\n${variableTable(Object.fromEntries(byTask.get(task) ?? []))}`)
    .join('\n\n')
}

function variableTable(variables: Record<string, { help: string; example?: string }>): string {
  const rows = Object.entries(variables).map(([name, { help, example }]) => [
    COMMON.has(name) ? `**\`${name}\`**` : `\`${name}\``,
    example === undefined ? help : `${help} Example: \`${example}\`.`,
  ])
  return tableOf(['Variable', 'Meaning'], rows)
}

function readDocument() {
  return JSON.parse(read('openapi.json')) as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, { properties: object }> }
  }
}

function operationsOfDocument(): Operation[] {
  return Object.values(readDocument().paths).flatMap((methods) => Object.values(methods))
}

/** Every operation of openapi.json, those that will be removed last. */
function operationTable(): string {
  const { paths, components } = readDocument()
  const withFields = ({ requestBody }: Operation) => {
    const { $ref } = requestBody?.content['application/json'].schema ?? { $ref: '' }
    const fields = Object.keys(components.schemas[$ref.replace(/^.*\//, '')]?.properties ?? {})
    return fields.length === 0 ? '' : ` with ${fields.map((field) => `\`${field}\``).join(', ')}`
  }
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const rows = all
    .toSorted((a, b) => Number(a.operation.deprecated ?? false) - Number(b.operation.deprecated ?? false))
    .map(({ path, method, operation }) => [
      `\`${operation.operationId}\`${operation.deprecated ? ` (${replacementOf(operation)})` : ''}`,
      `\`${method.toUpperCase()} /v1${path}\`${withFields(operation)}`,
      operation['x-scope'] === 'any' ? 'any key' : `\`${operation['x-scope'].replaceAll(' ', '` and `')}\``,
      successOf(operation),
      errorsOf(operation),
    ])
  return tableOf(['Operation', 'Request', 'Scope', 'Success', 'Errors'], rows)
}

/** Parameters of listPets that are no filters. */
const PET_LIST_EXAMPLES = { id: 'id=7&id=8', name: 'name=bis', word: 'word=whip', sort: 'sort=name' }

/** How listPets selects and sorts pets: the first sentence about each parameter. */
function petListTable(): string {
  const filters = Object.entries(FILTERS).map(([name, { example }]) => [name, `${name}=${example}`])
  const examples: Record<string, string> = { ...Object.fromEntries(filters), ...PET_LIST_EXAMPLES }
  const parameters = ListPetsQuery.properties as unknown as Record<
    string,
    { description: string; 'x-not-with'?: string[] }
  >
  const excludes = (name: string, other: string) => parameters[name]?.['x-not-with']?.includes(other) ?? false
  const rows = Object.entries(examples).map(([name, example]) => [
    `\`${example}\``,
    (parameters[name]?.description ?? '')
      .replace(/^Return /, '')
      .replace('Sort the', 'the')
      .replace(/\..*/s, ''),
    Object.keys(parameters)
      .filter((other) => excludes(name, other) || excludes(other, name))
      .map((other) => `\`${other}\``)
      .join(', '),
  ])
  return tableOf(['Parameter of `GET /v1/pets`', 'Result', 'Not with'], rows)
}

/** A section of its own says what replaces a deprecated operation. */
function replacementOf({ operationId }: Operation): string {
  return `[deprecated](upgrading.md#replace-${operationId.toLowerCase()})`
}

function successOf({ responses }: Operation): string {
  return Object.keys(responses)
    .filter((status) => status.startsWith('2'))
    .join(', ')
}

function errorsOf({ responses }: Operation): string {
  return Object.entries(responses)
    .filter(([status]) => /^[345]/.test(status) && !COMMON_STATUSES.has(status))
    .map(([status, { $ref = '' }]) => {
      // The name of a shared error response consists of its codes.
      const codes = $ref.replace(/^.*\//, '').split('.')
      return `${status} ${codes.map((code) => `\`${code}\``).join(', ')}`
    })
    .join('; ')
}

/** One row for the writes with the same effect of a retry. */
function retryTable(): string {
  const writes = operationsOfDocument().filter((operation) => operation['x-retry-effect'] !== undefined)
  const byEffect = Map.groupBy(writes, (operation) => operation['x-retry-effect'] ?? '')
  const rows = [...byEffect].map(([effect, operations]) => [
    operations.map(({ operationId }) => `\`${operationId}\``).join(', '),
    [...new Set(operations.map((operation) => RETRY_TEXTS[operation['x-retry']]))].join(', '),
    effect,
  ])
  return tableOf(['Operation', 'Safe to retry', 'Effect of a retry'], rows)
}

/** Which method of the client calls which operation, and whether it retries a call with an unknown outcome. */
async function methodTable(): Promise<string> {
  const byId = new Map(operationsOfDocument().map((operation) => [operation.operationId, operation]))
  const rows = await Promise.all(
    CLIENT_METHODS.map(async (method) => {
      const [request] = await requestsOf(method, REJECTION)
      const id = operationOf(readDocument(), request as Request)
      const operation = byId.get(id) as Operation
      return [
        `\`${method}\`${operation.deprecated ? ' (deprecated)' : ''}`,
        `\`${id}\``,
        RETRIED_BY_CLIENT[operation['x-retry']],
      ]
    }),
  )
  return tableOf(['Method', 'Operation', 'Retried if the outcome is unknown'], rows)
}

/** The operations that scopes allow. */
function scopeTable(): string {
  const byScope = Map.groupBy(operationsOfDocument(), (operation) => operation['x-scope'])
  const rows = [...byScope].map(([scope, operations]) => [
    scope === 'any' ? 'any key' : `\`${scope.replaceAll(' ', '` and `')}\``,
    operations.map(({ operationId }) => `\`${operationId}\``).join(', '),
  ])
  return tableOf(['Scope', 'Operations that it allows'], rows)
}

/** One row for each entry of the runbook. */
function alertTable(): string {
  const rows = [...Map.groupBy(ALERT_NAMES, (name) => alertOf(name).heading)].map(([heading, names]) => [
    names.join(', '),
    [...new Set(names.map((name) => alertOf(name).severity))].join(', '),
    `[${heading}](#${anchorOf(heading)})`,
  ])
  return tableOf(['Alert', 'Severity', 'Entry'], rows)
}

/** Both kinds of process have some of the metrics. */
function metricTable(): string {
  const metrics = new Map([...serviceMetrics(), ...deliveryMetrics()].map((metric) => [metric.name, metric]))
  const rows = [...metrics.values()].map(({ name, type, labelNames, help }) => [
    `\`${name}\``,
    [type, labelNames.map((label) => `\`${label}\``).join(', ')].filter(Boolean).join(' by '),
    help,
  ])
  return tableOf(['Metric', 'Type and labels', 'Meaning'], rows)
}

/** The tables with their keys. Each line is a foreign key. */
function schemaPicture(): string {
  const tables = readSchema().flatMap((subject) => subject.tables)
  const keyOf = ({ name, type, isKey, references }: Column) =>
    `    ${type} ${name} ${[isKey && 'PK', references && 'FK'].filter(Boolean).join(', ')}`
  const boxes = tables.flatMap(({ name, columns }) => [
    `  ${name} {`,
    ...columns.filter(({ isKey, references }) => isKey || references !== undefined).map(keyOf),
    '  }',
  ])
  const lines = tables.flatMap(({ name, columns }) => {
    const keys = columns.filter(({ isKey }) => isKey)
    return columns
      .filter(({ references }) => references !== undefined)
      .map((column) => {
        const many = column.isKey && keys.length === 1 ? '|' : '{'
        return `  ${column.references} ||--o${many} ${name} : ${column.name}`
      })
  })
  return ['```mermaid', 'erDiagram', ...lines, ...boxes, '```'].join('\n')
}

/** A section for each migration, with its tables. */
function schemaTables(): string {
  return readSchema()
    .map(({ file, comment, tables }) =>
      [`## [${file}](../migrations/${file})`, comment, ...tables.map(schemaTable)].join('\n\n'),
    )
    .join('\n\n')
}

function schemaTable({ name, comment, columns, writers, triggersOf }: Table): string {
  const code = (names: string[]) => names.map((text) => `\`${text}\``).join(', ')
  const written = [
    writers.length > 0 ? code(writers.map((folder) => `${folder}/`)) : '',
    triggersOf.length > 0 ? `the triggers of ${code(triggersOf)}` : '',
  ].filter(Boolean)
  const rows = columns.map((column) => [
    column.isKey ? `**\`${column.name}\`**` : `\`${column.name}\``,
    `\`${column.type}\`${column.isNullable ? '?' : ''}`,
    [column.references === undefined ? '' : `Of \`${column.references}\`.`, column.comment]
      .filter(Boolean)
      .join(' '),
  ])
  return `### ${name}

${comment}.

Written by ${written.join(' and ') || 'its migration only'}.

${tableOf(['Column', 'Type', 'Meaning'], rows)}`
}

function tableOf(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Returns the document with a new table between the markers of the table. */
function withTable(document: string, name: string, table: string): string {
  const begin = `<!-- ${name}: written by \`npm run openapi\` -->\n`
  const end = `\n<!-- end of ${name} -->`
  const text = read(document)
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`${document} has no markers for the table "${name}"`)
  return text.slice(0, from + begin.length) + table + text.slice(to)
}

for (const [name, { document, table }] of Object.entries(TABLES)) {
  const fresh = withTable(document, name, await table())
  if (!process.argv.includes('--check')) {
    writeFileSync(join(ROOT, document), fresh)
  } else if (read(document) !== fresh) {
    say(`The table "${name}" of ${document} does not match the code. Run: npm run openapi`)
    process.exitCode = 1
  }
}
