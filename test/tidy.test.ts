// Checks the names, addresses, statements and scripts of the repository. test/dependencies.test.ts checks the imports. The checks of the documentation are in test/docs/.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { releasedDocuments } from '../dev/released-documents.ts'
import { CORE_MAX, CORE_NAMES } from './mutants/core.ts'
import { DEFECTS } from './mutants/defects.ts'
import { isNameOf, statementFunctions } from './support/statements.ts'

const ROOT = resolve(import.meta.dirname, '..')
const SCRIPTS_MAX = 16

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const filesIn = (folder: string, ending: RegExp) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path))
    .map((path) => join(folder, path))

const sources = ['src', 'bin', 'dev', 'lab', 'examples', 'client/src', 'console/src'].flatMap((folder) =>
  filesIn(folder, /\.tsx?$/),
)
const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts

test('only src/config/config.ts and the examples read environment variables, and the drill a marker of its own', () => {
  const readers = sources.filter((path) => read(path).includes('process.env'))
  const others = readers.filter((path) => !path.startsWith('examples/'))
  expect(others).toEqual(['src/config/config.ts', 'lab/cluster/namespaces.ts'])
})

test('only src/db/connection/sqlstates.ts has SQLSTATE codes', () => {
  const withCodes = sources.filter((path) => path.startsWith('src/') && /'[0-9][0-9A-Z]{4}'/.test(read(path)))
  expect(withCodes).toEqual(['src/db/connection/sqlstates.ts'])
})

test('no folder or file has a vague name, such as utils or index.ts', () => {
  const vague = sources.filter((path) =>
    /(^|\/)(utils?|helpers?|common|services?|core|lib)(\/|\.ts)/.test(path),
  )
  expect(vague).toEqual([])
  expect(sources.filter((path) => path.endsWith('/index.ts'))).toEqual([])
})

test('a file that the first comment of another one names exists', () => {
  const files = [...sources, ...filesIn('test', /\.tsx?$/), ...filesIn('migrations', /\.ts$/)]
  const named = files.flatMap((file) =>
    read(file)
      .split('\n', 3)
      .filter((line) => line.startsWith('//'))
      .flatMap((line) => line.match(/[\w./-]+\.tsx?\b/g) ?? [])
      .map((name) => ({ file, name })),
  )
  const exists = (name: string) => files.some((path) => `/${path}`.endsWith(`/${name}`))
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ name }) => !exists(name.replace(/^\.+\//, '')))).toEqual([])
})

test('a function sends one statement, which has its name, and no two functions have the same name', () => {
  const functions = statementFunctions()
  const wrong = functions.flatMap(({ file, name, sends, statements }) => [
    ...statements
      .filter((statement) => !isNameOf(statement, name))
      .map((statement) => `${file}: ${name} sends ${statement}`),
    ...(sends > 1 ? [`${file}: ${name} sends ${sends} statements`] : []),
  ])
  expect(wrong).toEqual([])
  const names = functions.map(({ name }) => name)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

test('only src/events/feed and the demo have SQL on the tables of the feed, and one file writes the history of pets', () => {
  const filesWith = (sql: RegExp) => filesIn('src', /\.ts$/).filter((path) => sql.test(read(path)))
  const onFeedTables = /\b(?:from|join|into|update)\s+(?:outbox|event_numbers|event_epochs)\b/
  const ofFeed = ['src/events/feed/faults.ts', 'src/events/feed/queries.ts']
  expect(filesWith(onFeedTables).toSorted()).toEqual(['src/data/demo/queries.ts', ...ofFeed])
  expect(filesWith(/\binto\s+pet_history\b/)).toEqual(['src/store/history/queries.ts'])
})

test('every function that sends a statement has a case in the tests of plans, or says why its statement is bounded', () => {
  const plans = ['test/slow/plans.test.ts', 'test/slow/event-plans.test.ts'].map(read).join('\n')
  const hasCase = (name: string) => new RegExp(String.raw`\b${name}\b`).test(plans)
  const functions = statementFunctions()
  const withoutBoth = functions.filter(({ name, isBounded }) => !hasCase(name) && !isBounded)
  expect(withoutBoth.map(({ file, name }) => `${file}: ${name}`)).toEqual([])
  const withBoth = functions.filter(({ name, isBounded }) => hasCase(name) && isBounded)
  expect(withBoth.map(({ file, name }) => `${file}: ${name}`)).toEqual([])
})

test('every planted defect can be planted: its file has the text once', () => {
  const changed = DEFECTS.filter(({ file, find }) => read(file).split(find).length !== 2)
  expect(changed.map(({ name, file }) => `${file}: ${name}`)).toEqual([])
})

test('the core of the planted defects is small, and names defects that exist', () => {
  const names = new Set(DEFECTS.map(({ name }) => name))
  expect(CORE_NAMES.filter((name) => !names.has(name))).toEqual([])
  expect(CORE_NAMES.length).toBeLessThanOrEqual(CORE_MAX)
})

test('every planted defect names a test that exists', () => {
  // These make their titles from the names of files.
  const withMadeTitles = new Set(['test/db/statements.test.ts', 'test/dependencies.test.ts'])
  const isMissing = ({ test: path, title }: (typeof DEFECTS)[number]) =>
    title === undefined || withMadeTitles.has(path)
      ? !existsSync(join(ROOT, path))
      : !read(path).includes(title)
  const missing = DEFECTS.filter(isMissing)
  expect(missing.map(({ test: path, title }) => `${path}: ${title}`)).toEqual([])
})

/** What would give the same commit another result. test/README.md says what to use instead. */
const NOT_REPEATABLE: [pattern: RegExp, allowed: string[]][] = [
  // The seed of each nightly round, and categories and secrets whose value does not matter.
  [
    /\brandom(?:Int|Bytes)\(|\bgetRandomValues\(/,
    ['test/nightly.ts', 'test/support/pets.ts', 'test/client/webhooks.test.ts'],
  ],
  // The locale of the host.
  [/\.toLocale\w*\((?!'en)|\.localeCompare\(|\bIntl\.\w+\((?!'|\)\.resolvedOptions)/, []],
  // The number and the load of the CPUs.
  [/\bavailableParallelism\(|\bcpus\(\)|\bloadavg\(/, []],
  // The Git history.
  [
    /'git', \[?'(?:archive|blame|branch|describe|diff|log|merge-base|rev-list|show)\b/,
    ['test/support/version-1.ts'],
  ],
]

test('no test depends on unseeded values, on the locale or the CPUs of the host, or on the Git history', () => {
  const tests = filesIn('test', /\.ts$/).filter((path) => path !== 'test/tidy.test.ts')
  const wrong = NOT_REPEATABLE.flatMap(([pattern, allowed]) =>
    tests
      .filter((path) => !allowed.includes(path) && pattern.test(read(path)))
      .map((path) => `${path}: ${pattern.exec(read(path))?.[0]}`),
  )
  expect(wrong).toEqual([])
})

/** What the repository must not name: nothing of it is published, and it has no public address. */
const NOT_OURS: [pattern: RegExp, why: string][] = [
  [/\b(?:github|gitlab|codeberg)\.(?:com|org)[/:]/, 'a repository that is not ours'],
  [
    /\bnpmjs\.|\bghcr\.io\b|\bdocker\.io\b|\bquay\.io\b|\b(?:unpkg|jsdelivr|esm)\.(?:com|net|sh)\b/,
    'a registry',
  ],
  [/\bnpm publish\b|\bdocker push\b|--provenance\b/, 'publishing'],
  [/\bgit clone (?:https?:|git@)/, 'a clone of an address'],
  [
    /\b(?:npx|npm exec|npm x|bunx|dlx)(?: -\S+)* (?:petstore|@petstore\/\w+)\b/,
    'a package of npm that is not ours',
  ],
  [
    /\b(?:npm|yarn|pnpm|bun|deno) (?:i|install|add)\b[^\n&|;#]* (?:npm:)?(?:petstore|@petstore\/client)(?:@\S+)?(?=[\s"'`]|$)/,
    'a package of npm that is not ours',
  ],
  [/\b(?:npm|jsr):@?petstore\b/, 'a package of npm that is not ours'],
]

/** Every line of a text that has one of them. */
const notOurs = (text: string) =>
  text.split('\n').flatMap((line) => NOT_OURS.filter(([pattern]) => pattern.test(line)).map(([, why]) => why))

test('finds an address or a package that is not ours', () => {
  const wrong = [
    'git clone https://github.com/petstore/petstore.git && cd petstore',
    '"bugs": "https://gitlab.com/petstore/petstore/issues"',
    'npx petstore serve',
    'npx --yes petstore demo',
    'npm install petstore',
    'Run `npm install --save @petstore/client`',
    'npm install zod @petstore/client@1.2.0',
    "import { Petstore } from 'npm:@petstore/client'",
    'for package in release/*.tgz; do npm publish "./$package"; done',
  ]
  expect(wrong.filter((line) => notOurs(line).length === 0)).toEqual([])
  const right = [
    'npm install ./petstore-client-*.tgz',
    'npm install --global node@26',
    'npm run petstore -- demo',
    "import { Petstore } from '@petstore/client'",
    'After `npm install`, define `petstore`.',
  ]
  expect(right.flatMap(notOurs)).toEqual([])
})

test('no file names an address that is not ours, publishes, or installs `petstore` or the client from npm', () => {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0')
  const files = tracked.filter(
    (path) =>
      path !== '' &&
      existsSync(join(ROOT, path)) &&
      !/\.(?:png|ico|woff2?)$/.test(path) &&
      // Names other projects, and links to them.
      path !== 'docs/evidence/comparison.md' &&
      !path.endsWith('package-lock.json') &&
      // Tests name what must not be there.
      !/^test\/.*\.ts$/.test(path),
  )
  expect(files.length).toBeGreaterThan(700)
  const wrong = files.flatMap((path) => notOurs(read(path)).map((why) => `${path}: ${why}`))
  expect(wrong).toEqual([])
  // A package without this field could be published by mistake.
  const packages = ['package.json', 'client/package.json', 'console/package.json'].map(
    (path) => JSON.parse(read(path)) as Record<string, unknown>,
  )
  for (const { name, ...fields } of packages) {
    expect({ name, private: fields['private'] }).toEqual({ name, private: true })
    expect(Object.keys(fields)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(homepage|bugs|repository)$/)]),
    )
  }
})

/** The schema. Edited in place until the first release; from then on, each change is a new migration. */
const BASELINE = [
  '0001_access.sql',
  '0002_pets.sql',
  '0003_orders.sql',
  '0004_pet_counts.sql',
  '0005_events.sql',
  '0006_figures.sql',
  '0007_idempotency.sql',
  '0008_webhooks.sql',
  '0009_imports.sql',
  '0010_restore_checks.sql',
  '0011_settings.sql',
  '0012_till.sql',
  '0013_selling.sql',
]

test('migrations only change the schema of a release: before the first one, the baseline is edited', () => {
  const files = readdirSync(join(ROOT, 'migrations')).sort()
  expect(files.slice(0, BASELINE.length)).toEqual(BASELINE)
  if (releasedDocuments().length === 0) expect(files.slice(BASELINE.length)).toEqual([])
})

test('migrations are numbered without gaps', () => {
  const numbers = readdirSync(join(ROOT, 'migrations'))
    .sort()
    .map((name) => Number(name.slice(0, 4)))
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
})

test(`package.json has at most ${SCRIPTS_MAX} scripts, and package-lock.json names no registry host`, () => {
  expect(Object.keys(scripts).length).toBeLessThanOrEqual(SCRIPTS_MAX)
  expect(read('package-lock.json')).not.toMatch(/"resolved": "https?:/)
})

test('the nightly workflow runs every part of `npm run nightly`', () => {
  const parts = [...read('test/nightly.ts').matchAll(/^ {2}(\w+): \{/gm)].map(([, name]) => name)
  const [, matrix = ''] = /part: \[(.*)\]/.exec(read('.github/workflows/nightly.yml')) ?? []
  expect(matrix.split(', ')).toEqual(parts)
})
