// Finds the commands, files, paths, variables, error codes and metrics that a document names. Each `…Problems` function
// returns those of one document that do not exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import * as rules from '@petstore/client/rules'
import { TOOLS } from '../../src/cli/mcp/server.ts'
import { INDEXES } from '../../src/data/verify/objects.ts'
import { SIGN_IN_ERRORS } from '../../src/access/sign-in/rules.ts'
import { CLIENT_VARIABLES, VARIABLES } from '../../src/config/config.ts'
import { SAMPLERS } from '../../src/config/tracing-settings.ts'
import { DETAIL_CODES, ERRORS } from '../../src/contract/errors.ts'
import { FAILURE_REASONS } from '../../src/events/delivery/outcome.ts'
import { EVENTS } from '../../src/store/history/schema.ts'
import { type Document, filesBelow, ROOT } from '../support/documents.ts'
import { commandsIn, problemsOf, linesOf } from './commands.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const files = filesBelow('')

/** Commands: each line of a shell block, and each code span that starts like a command. */
function commandLines({ blocks, spans }: Document): { text: string; line: number }[] {
  return [
    ...blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text, line }) => linesOf(text).map((command) => ({ text: command, line }))),
    ...spans.filter(({ text }) =>
      /^(?:[A-Z_]+=\S+ )*(?:npm|npx|node|petstore|bin\/petstore\.ts|curl) \S/.test(text),
    ),
  ]
}

/** Files and shell functions that the page creates. */
function createdNames({ blocks, text }: Document): string[] {
  const written = text.matchAll(
    /(?:> ?|--output |--rejected |-[oD] |gzip (?:--keep )?|cp \S+\/|^(?=\w+\(\) \{))([\w.-]+)/gm,
  )
  return [...blocks.map(({ file }) => file).filter(Boolean), ...[...written].map(([, file = '']) => file)]
}

export function commandProblems(document: Document): string[] {
  const created = createdNames(document)
  return commandLines(document).flatMap(({ text, line }) =>
    commandsIn(text)
      .flatMap((command) => problemsOf(command, created))
      .map((problem) => `${document.path}:${line}: ${problem}`),
  )
}

const FOLDERS = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map(({ name }) => name.replaceAll('.', '\\.'))
/** A path from the root of the repository. */
const ROOTED = new RegExp(String.raw`(?<![\w./$-])(?:${FOLDERS.join('|')})/[\w./*@-]*[\w/*]`, 'g')
const A_FILE = /^[\w.@-]+(?:\/[\w.@-]+)*(?:\/|\.(?:ts|json|md|sql|svg|yml|yaml|service|conf|npmrc))$/

export function fileProblems(document: Document): string[] {
  const { path, text, spans } = document
  const created = createdNames(document)
  const exists = (name: string) =>
    existsSync(join(ROOT, name)) ||
    existsSync(join(ROOT, dirname(path), name)) ||
    created.includes(basename(name))
  const rooted = [...text.matchAll(ROOTED)].map(([name]) => name).filter((name) => !name.includes('*'))
  // A code span may name a file without its folders.
  const short = spans.map((span) => span.text).filter((name) => A_FILE.test(name))
  const isShort = (name: string) =>
    files.some(
      (file) => `/${file}`.endsWith(`/${name}`) || `/${file}`.includes(`/${name.replace(/\/?$/, '/')}`),
    )
  const missing = [
    ...rooted.filter((name) => !exists(name)),
    ...short.filter((name) => !exists(name) && !isShort(name)),
  ]
  return [...new Set(missing)].map((name) => `${path}: there is no ${name}`)
}

interface Operation {
  operationId: string
  parameters?: { name: string; in: string }[]
}
const { paths } = JSON.parse(read('openapi.json')) as { paths: Record<string, Record<string, Operation>> }

/** Checks paths under /v1 with the method before and the query after them. */
export function pathProblems({ path, text }: Document): string[] {
  const problems: string[] = []
  const addresses = text.matchAll(
    /(?:\b(GET|HEAD|POST|PUT|PATCH|DELETE) )?(?:https?:\/\/[\w.:]+|\$\w+)?\/v1(\/[\w\-/{}$…]+)(\?[^\s`'"<>)]*)?/g,
  )
  for (const [all, method, address = '', query = ''] of addresses) {
    const template = Object.keys(paths).find((candidate) => isAt(address, candidate))
    const operations = paths[template ?? ''] ?? {}
    const operation = operations[(method ?? 'get').toLowerCase().replace('head', 'get')]
    if (template === undefined) problems.push(`no operation has the path ${all}`)
    else if (method !== undefined && operation === undefined)
      problems.push(`no operation has the method of ${all}`)
    const known =
      operation?.parameters?.filter((parameter) => parameter.in === 'query').map(({ name }) => name) ?? []
    for (const name of new URLSearchParams(query).keys()) {
      if (!known.includes(name)) problems.push(`${all} has no parameter ${name}`)
    }
  }
  return problems.map((problem) => `${path}: ${problem}`)
}

function isAt(address: string, template: string): boolean {
  const [given, wanted] = [address.replace(/\/$/, '').split('/'), template.split('/')]
  const fits = (segment: string, index: number) =>
    segment === wanted[index] ||
    (wanted[index]?.startsWith('{') === true && /^(?:\d+|N|…|\$\w+)$/.test(segment))
  return given.length === wanted.length && given.every(fits)
}

/** Paths outside /v1, which guides.process.test.ts requests from the running service. */
export function otherPaths({ spans, text }: Document): string[] {
  const inSpans = spans
    .map((span) => span.text.replace(/^GET /, ''))
    .filter((span) => /^\/[a-z][\w./-]*$/.test(span))
  const whole = [...text.matchAll(/http:\/\/127\.0\.0\.1:\d+(\/[\w./-]+)/g)].map(
    ([, address = '']) => address,
  )
  // `/v2` does not exist yet, `/-/` is of Prometheus, and the others are folders.
  const isIgnored =
    /^\/(?:-\/|v[12](?:\/|$)|(?:var|usr|etc|opt|run|tmp|srv|home|data|app|dev|bin|mnt|root)(?:\/|$))/
  return [...inSpans, ...whole].filter((address) => !isIgnored.test(address))
}

/** Variables of tests, development tools and deployment files. */
const VARIABLES_OF_TOOLS = new Set(
  [
    ...files
      .filter((file) => /^(?:test|bench|dev|drill|examples)\/.*\.ts$|^\.ci\/run$|^test\/.*\.sh$/.test(file))
      .flatMap((file) => read(file).match(/^.*process\.env.*$|^(?:export )?[A-Z_]+=|\$\{[A-Z_]+:-/gm) ?? []),
    ...files.filter((file) => /^(?:Dockerfile|compose\.yaml|deploy\/.*)$/.test(file)).map(read),
  ].flatMap((text) => text.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? []),
)
/** Variables of programs that pages use. */
const VARIABLES_OF_PROGRAMS =
  /^(?:TZ|LANG|DEBIAN_FRONTEND|ARGS|NODE_EXTRA_CA_CERTS|OTEL_SDK_DISABLED|EXTRAOPTS|PATRONICTL_CONFIG_FILE|ETCDCTL_(?:CACERT|CERT|KEY|ENDPOINTS))$/
/** Words in capitals that are not variables. */
const NOT_VARIABLES =
  /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|SIG[A-Z]+|NO_COLOR|PATH|FOLDER|API_KEY|JSON|CSV|UTF|NUL|LINK|EINTEGRITY)$/

export function variableProblems({ path, text, blocks, spans }: Document): string[] {
  const problems: string[] = []
  const used = new Set(
    [...text.matchAll(/\$\{?([A-Za-z_]\w*)|env(?:\.|\[')([A-Z_]+)/g)].map(([, shell, code]) => shell ?? code),
  )
  const isKnown = (name: string) =>
    name in VARIABLES ||
    name in CLIENT_VARIABLES ||
    name in rules ||
    VARIABLES_OF_TOOLS.has(name) ||
    VARIABLES_OF_PROGRAMS.test(name)
  const code = [...blocks.filter(({ language }) => !['sql', 'py'].includes(language)), ...spans]
  for (const { text: source, line } of code) {
    for (const [, name = '', value = ''] of source.matchAll(
      /(?<![\w$.-])([A-Z][A-Z0-9_]+)(?:=([\w./:-]*))?/g,
    )) {
      const isVariable = name.includes('_') || source.includes(`${name}=`) || source === name
      if (!isVariable || NOT_VARIABLES.test(name)) continue
      if (!isKnown(name) && !used.has(name)) problems.push(`${path}:${line}: there is no variable ${name}`)
      else if (value !== '' && !isAllowed(name, value))
        problems.push(`${path}:${line}: ${name} does not accept ${value}`)
    }
  }
  return problems
}

function isAllowed(name: string, value: string): boolean {
  if (!(name in VARIABLES) || name.endsWith('_URL')) return true
  try {
    VARIABLES[name as keyof typeof VARIABLES].read(value)
    return true
  } catch {
    return false
  }
}

const CLIENT_CODES = new Set(
  ['client/src/errors.ts', 'client/src/webhooks.ts'].flatMap(
    (path) => read(path).match(/(?<=^ {2}\| ')\w+(?='$)/gm) ?? [],
  ),
)
/** Names with an underscore that are not error codes: codes in details, and names of the schema, roles, history events, failed webhooks, samplers, tools for assistants and PostgreSQL. */
const OTHER_NAMES = new Set([
  ...files
    .filter((file) => file.endsWith('.sql') || /^deploy\/ha\/.*\.(?:yml|ini)$/.test(file))
    .flatMap((file) => read(file).match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []),
  ...INDEXES,
  ...EVENTS,
  ...Object.keys(DETAIL_CODES),
  ...Object.keys(SIGN_IN_ERRORS),
  ...FAILURE_REASONS,
  ...SAMPLERS,
  ...TOOLS.map(({ name }) => name),
  // The name of a statement, which names its span; names of outcomes and reasons.
  'insert_pets',
  'no_standby',
  'not_stored',
  'not_subscribed',
  'select_account',
  'signed_in',
  ...`archive_mode bin_dir data_dir idle_in_transaction_session_timeout loop_wait max_connections max_standby_streaming_delay pg_cancel_backend pg_createcluster pg_dump pg_is_in_recovery pg_lsclusters pg_read_all_stats pg_restore pg_rewind pg_stat_bgwriter pg_stat_statements pg_terminate_backend pg_upgrade pg_upgradecluster pg_wal query_wait_timeout remote_apply remote_write restore_command retry_timeout shared_buffers statement_timeout stats_reset synchronous_commit synchronous_mode synchronous_mode_strict synchronous_node_count synchronous_standby_names`.split(
    ' ',
  ),
])

export function codeProblems({ path, text, blocks, spans }: Document): string[] {
  const statusOf = new Map<string, number>(Object.entries(ERRORS).map(([code, { status }]) => [code, status]))
  const isCode = (name: string) => statusOf.has(name) || CLIENT_CODES.has(name)
  const inProse = [...text.matchAll(/(?:\b|^\| )([45]\d\d) (?:(?<=^\| \d{3} )\| )?`([a-z_]+)`/gm)]
  const inBlocks = blocks.flatMap((block) => [
    ...block.text.matchAll(/"code": ?"(\w+)"[^]*?"status": ?(\d+)/g),
    ...block.text.matchAll(/\bcode (?:===|!==) '(\w+)'/g),
  ])
  const inSpans = spans
    .map((span) => span.text)
    .filter((name) => /^[a-z]+(?:_[a-z]+)+$/.test(name) && !/^(?:petstore|process|nodejs)_/.test(name))
  return [
    ...inProse
      .filter(([, status, code = '']) => statusOf.get(code) !== Number(status))
      .map(([all]) => `${all} is not an error of the service`),
    ...inBlocks
      .filter(
        ([, code = '', status]) =>
          !isCode(code) || (status !== undefined && statusOf.get(code) !== Number(status)),
      )
      .map(([, code]) => `${code} is not a code, or has another status`),
    ...inSpans
      .filter((name) => !isCode(name) && !OTHER_NAMES.has(name))
      .map((name) => `\`${name}\` does not exist`),
  ].map((problem) => `${path}: ${problem}`)
}

/** Metrics, which guides.process.test.ts looks up in the running service. */
export function metricsNamed({ spans }: Document): string[] {
  return spans
    .map(({ text }) => text)
    .filter((name) => /^(?:petstore|process|nodejs)_[a-z0-9_]+$/.test(name) && !OTHER_NAMES.has(name))
}
