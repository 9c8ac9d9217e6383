// Checks which file may import which, with dependency-cruiser. docs/architecture.md shows the folders.
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDERS = ['bin', 'src', 'dev', 'lab', 'examples', 'client/src', 'console/src', 'migrations']

/** Lowest first: a folder imports only from lower levels. Folders of one level do not import each other. */
const SRC_LEVELS = [
  ['values'],
  ['contract'],
  ['config'],
  ['telemetry'],
  ['db', 'http'],
  ['store'],
  ['access', 'pages'],
  ['events'],
  ['data'],
  ['server'],
  ['cli'],
]
const EVENTS_LEVELS = [['feed'], ['webhooks'], ['delivery']]
const LAB_LEVELS = [
  ['parts'],
  ['cluster'],
  ['load'],
  ['soak'],
  ['failover'],
  ['restore', 'alerts', 'bench'],
  ['one-server'],
]

/** A rule for each folder: it must not import from the same level or a higher one. */
function levelRules(folder: string, levels: readonly (readonly string[])[]): IForbiddenRuleType[] {
  return levels.flatMap((level, index) =>
    level.flatMap((name) => {
      const others = levels
        .slice(index)
        .flat()
        .filter((other) => other !== name)
      if (others.length === 0) return []
      return {
        name: `${folder}/${name} imports only from lower levels`,
        from: { path: `^${folder}/${name}/` },
        to: { path: `^${folder}/(${others.join('|')})/` },
      }
    }),
  )
}

const RULES: IForbiddenRuleType[] = [
  ...levelRules('src', SRC_LEVELS),
  ...levelRules('src/events', EVENTS_LEVELS),
  ...levelRules('lab', LAB_LEVELS),
  {
    name: 'the service imports nothing that stands around it',
    from: { path: '^(bin|src|migrations)/' },
    to: { path: '^(dev|lab|test|examples|console)/' },
  },
  {
    name: 'only commands use the client',
    from: { path: '^src/', pathNot: '^src/cli/' },
    to: { path: '^client/' },
  },
  {
    name: 'the client, the console and the examples import nothing of the service, like a program of a user',
    from: { path: '^(client|console|examples)/' },
    to: { path: '^(bin|src|dev|lab|test|migrations)/' },
  },
  {
    name: 'development and lab do not use tests',
    from: { path: '^(dev|lab)/' },
    to: { path: '^test/' },
  },
  {
    name: 'inside a feature, schemas and rules know nothing of statements and routes',
    from: { path: '^src/(store|access|events)/.*/(schema|format|rules)\\.ts$' },
    to: { path: '^src/(db|http)/|/(queries|routes)\\.ts$' },
  },
  {
    name: 'inside a feature, statements know nothing of HTTP',
    from: { path: '^src/.*queries\\.ts$' },
    to: { path: '^src/http/|routes\\.ts$' },
  },
  {
    name: 'only routes know HTTP',
    from: { path: '^src/(store|access|events)/', pathNot: '(routes|/deprecation)\\.ts$' },
    to: { path: '^src/http/|routes\\.ts$|^node_modules/fastify/' },
  },
  {
    // `serve` never connects to an address that a caller chose.
    name: '`serve` loads nothing of events/delivery',
    from: { path: '^src/server/process\\.ts$' },
    to: { path: '^src/events/delivery/', reachable: true },
  },
  {
    name: '`petstore` reaches every file of src',
    from: { path: '^bin/petstore\\.ts$' },
    // Without the files that browsers get.
    to: { path: '^src/', pathNot: '^src/pages/assets/', reachable: false },
  },
  { name: 'no files import each other in a circle', from: {}, to: { circular: true } },
  {
    name: 'no two folders of src, lab, the client or the console import each other',
    scope: 'folder',
    from: { path: '^(src|lab|client|console)' },
    to: { circular: true },
  },
]

const rules = RULES.map((rule) => ({ severity: 'error' as const, ...rule }))
const { output } = await cruise(FOLDERS, {
  baseDir: ROOT,
  ruleSet: { forbidden: rules },
  validate: true,
  // The compiler of TypeScript 7 has no JavaScript interface that dependency-cruiser could use.
  parser: 'swc',
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  outputType: 'json',
})
const { modules, summary } = JSON.parse(output as string) as ICruiseResult

test('dependency-cruiser reads every file', () => {
  const read = new Set(modules.map(({ source }) => source))
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => join(folder, path)),
  )
  expect(files.length).toBeGreaterThan(400)
  expect(files.filter((path) => !read.has(path))).toEqual([])
  expect(modules.flatMap(({ dependencies }) => dependencies).length).toBeGreaterThan(files.length)
})

test.each(rules.map(({ name }) => name))('%s', (name) => {
  const broken = summary.violations.filter(({ rule }) => rule.name === name)
  expect(broken.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
})
