// `node dev/docs.ts`: writes the generated tables of the docs, each between its two markers. With --check, only
// reports tables that do not match the code. `npm run openapi` and `npm run check` call it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { say } from '../src/cli/terminal.ts'
import { CLIENT_VARIABLES, VARIABLES } from '../src/config.ts'
import { ERRORS } from '../src/errors.ts'
import { SIGN_IN_ERRORS } from '../src/people/rules.ts'
import { LIST_DEFAULTS, PROCESS_LIMITS } from './limits.ts'
import { deliveryMetrics, type Metric, serviceMetrics } from './metrics.ts'

const ROOT = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const TABLES: Record<string, { document: string; table: () => string }> = {
  errors: { document: 'docs/errors.md', table: errorTable },
  variables: { document: 'docs/configuration.md', table: () => variableTable(VARIABLES) },
  'variables for users': { document: 'docs/command-line.md', table: () => variableTable(CLIENT_VARIABLES) },
  limits: {
    document: 'docs/running.md',
    table: () => tableOf(['Limit of one process', 'Value', 'Beyond it'], PROCESS_LIMITS),
  },
  lists: {
    document: 'docs/interface.md',
    table: () => tableOf(['List', 'Sort order', 'Default `limit`'], LIST_DEFAULTS),
  },
  scopes: { document: 'docs/keys-and-scopes.md', table: scopeTable },
  'sign-in errors': { document: 'docs/sign-in.md', table: signInErrorTable },
  metrics: { document: 'docs/metrics.md', table: () => metricTable(serviceMetrics()) },
  'delivery metrics': { document: 'docs/metrics.md', table: () => metricTable(deliveryMetrics()) },
}

function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, message, fix }]) => [
    String(status),
    `\`${code}\``,
    // Outside of code, GitHub renders `<…>` as HTML.
    message.replaceAll('<', '&lt;'),
    fix,
  ])
  return tableOf(['Status', 'Code', '`message`', 'What to do'], rows)
}

function signInErrorTable(): string {
  const rows = Object.entries(SIGN_IN_ERRORS).map(([code, text]) => [`\`${code}\``, text])
  return tableOf(['Code', 'What the page shows'], rows)
}

function variableTable(variables: Record<string, { help: string; example?: string }>): string {
  const rows = Object.entries(variables).map(([name, { help, example }]) => [
    `\`${name}\``,
    example === undefined ? help : `${help} Example: \`${example}\`.`,
  ])
  return tableOf(['Variable', 'Meaning'], rows)
}

/** The operations that each scope allows, read from openapi.json. */
function scopeTable(): string {
  const { paths } = JSON.parse(read('openapi.json')) as {
    paths: Record<string, Record<string, { operationId: string; 'x-scope': string }>>
  }
  const byScope = Map.groupBy(
    Object.values(paths).flatMap((methods) => Object.values(methods)),
    (operation) => operation['x-scope'],
  )
  const rows = [...byScope].map(([scope, operations]) => [
    scope === 'any' ? 'any key' : `\`${scope}\``,
    operations.map(({ operationId }) => `\`${operationId}\``).join(', '),
  ])
  return tableOf(['Scope', 'Operations that it allows'], rows)
}

function metricTable(metrics: Metric[]): string {
  const rows = metrics.map(({ name, type, labelNames, help }) => [
    `\`${name}\``,
    type,
    labelNames.map((label) => `\`${label}\``).join(', '),
    help,
  ])
  return tableOf(['Metric', 'Type', 'Labels', 'Meaning'], rows)
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
  const fresh = withTable(document, name, table())
  if (!process.argv.includes('--check')) {
    writeFileSync(join(ROOT, document), fresh)
  } else if (read(document) !== fresh) {
    say(`The table "${name}" of ${document} does not match the code. Run: npm run openapi`)
    process.exitCode = 1
  }
}
