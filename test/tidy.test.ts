// Checks the structure and the wording of the repository. The checks of the documentation are in test/docs/.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const FILE_LINES_MAX = 320
const SCRIPTS_MAX = 16

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const filesIn = (folder: string, ending: RegExp) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path))
    .map((path) => join(folder, path))

const sources = ['src', 'bin', 'dev', 'bench', 'drill', 'examples', 'client/src', 'console/src'].flatMap(
  (folder) => filesIn(folder, /\.tsx?$/),
)
const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts

/** Lowest layer first: a file can import from its own layer and from lower ones. */
const LAYERS = [
  // The client imports nothing of the service.
  /^client\/src\//,
  // Examples and the console import the client as a package, like a program of a user.
  /^examples\//,
  /^console\/src\//,
  /^src\/(actor|caller|category-policy|config-values|counts|database-url|deadlines|fresh-holds|errors|int64|int64-schema|ip-address|json|paging|pet-status|roles|scopes|tracing|tracing-settings|version)\.ts$/,
  /^src\/orders\/hold-limit\.ts$/,
  /^src\/config\.ts$/,
  /^src\/db\//,
  /^src\/telemetry\//,
  /^src\/(?!db|telemetry|http|pages|server|cli)[\w-]+\/(schema|format|rules|outcome)\.ts$/,
  /^src\/(?!db|telemetry|http|pages|server|cli)[\w-]+\/queries\.ts$/,
  /^src\/(?!db|telemetry|http|pages|server|cli)[\w-]+\/(?!routes|deprecation)[\w-]+\.ts$/,
  /^src\/http\//,
  /^src\/(?!pages|server|cli)[\w-]+\/(routes|deprecation)\.ts$/,
  /^src\/pages\//,
  /^src\/server\//,
  /^src\/cli\//,
  /^bin\//,
  /^dev\//,
  /^bench\//,
  // The cluster half of the drill: from processes up to the lab. Everything else in drill/ uses the lab.
  /^drill\/(processes|namespaces|https)\.ts$/,
  /^drill\/(debian-root|root-mounts|network|patroni)\.ts$/,
  /^drill\/(host|cluster-files)\.ts$/,
  /^drill\/(node|instances|load-balancers)\.ts$/,
  /^drill\/(database|faults)\.ts$/,
  /^drill\/lab\.ts$/,
  /^drill\//,
]

const layerOf = (path: string) => LAYERS.findIndex((pattern) => pattern.test(path))

function importsOf(path: string): string[] {
  return [...read(path).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, target = '']) =>
    relative(ROOT, resolve(ROOT, dirname(path), target)),
  )
}

test('no file imports from a higher layer', () => {
  const upward = sources.flatMap((path) => {
    expect(layerOf(path), `${path} has no layer`).toBeGreaterThanOrEqual(0)
    return importsOf(path)
      .filter((target) => layerOf(target) > layerOf(path))
      .map((target) => `${path} imports ${target}`)
  })
  expect(upward).toEqual([])
})

test('src/http imports no feature of the service, such as src/pets', () => {
  const features = sources
    .filter((path) => path.startsWith('src/http/'))
    .flatMap((path) => importsOf(path).map((target) => ({ path, target })))
    .filter(({ target }) => /^src\/[\w-]+\//.test(target) && !/^src\/(http|telemetry)\//.test(target))
  expect(features).toEqual([])
})

/** Updating a pet reads its open order, and an order changes the status of its pet. */
const MUTUAL_IMPORTS = ['orders and pets']

test('no two folders of src import each other, except orders and pets', () => {
  const folderOf = (path: string) => /^src\/([\w-]+)\//.exec(path)?.[1]
  const imports = new Set(
    sources.flatMap((path) => importsOf(path).map((target) => `${folderOf(path)} ${folderOf(target)}`)),
  )
  const folders = [...new Set(sources.map(folderOf))].filter((folder) => folder !== undefined).sort()
  const mutual = folders.flatMap((one) =>
    folders
      .filter((other) => one < other && imports.has(`${one} ${other}`) && imports.has(`${other} ${one}`))
      .map((other) => `${one} and ${other}`),
  )
  expect(mutual).toEqual(MUTUAL_IMPORTS)
})

test('only src/config.ts and the examples read environment variables, and the drill a marker of its own', () => {
  const readers = sources.filter((path) => read(path).includes('process.env'))
  const others = readers.filter((path) => !path.startsWith('examples/'))
  expect(others).toEqual(['src/config.ts', 'drill/namespaces.ts'])
})

test(`no source file has more than ${FILE_LINES_MAX} lines`, () => {
  const handwritten = sources.filter((path) => !read(path).startsWith('// Written by `npm run'))
  const long = handwritten.filter((path) => read(path).split('\n').length > FILE_LINES_MAX)
  expect(long).toEqual([])
})

test('no folder or file has a vague name, such as utils or index.ts', () => {
  const vague = sources.filter((path) =>
    /(^|\/)(utils?|helpers?|common|services?|core|lib)(\/|\.ts)/.test(path),
  )
  expect(vague).toEqual([])
  expect(sources.filter((path) => path.endsWith('/index.ts'))).toEqual([])
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

/** Words to avoid, with the words to use instead. Identifiers such as ECONNREFUSED and refused_bytes do not match. */
const AVOIDED_WORDS: [pattern: RegExp, use: string][] = [
  [/\banimals?\b/gi, 'pet'],
  [/\banswer(?:s|ed|ing)?\b/gi, 'response, respond, return'],
  [/\brefus(?:e[sd]?|ing|als?)\b/gi, 'reject, fail'],
  [/\b(?:is|are|be|been|was|were) told\b/gi, 'get, receive'],
  [/\bwhom?ever\b|\b(?:some|any)body\b/gi, 'client, caller, operator, user'],
  [/\bunder way\b/gi, 'in flight'],
  [/\bmend(?:s|ed|ing)?\b/gi, 'fix'],
  [/\bprocessors?\b/gi, 'CPU, core'],
  [/(?<!\bload[-\s*/#>]+)\bbalancers?\b/gi, 'load balancer'],
  [/\btime limits?\b/gi, 'timeout'],
  [/\bin the place of\b/gi, 'instead of'],
  [/\bbut for\b/gi, 'except'],
  [/\bshould it\b/gi, 'if it'],
  [/\bbeside\b/gi, 'with, next to'],
]

/** Deliberate uses: columns, former names that still work or that the changelog explains, and the service in compose.yaml. */
const ALLOWED_WORDS: [path: RegExp, text: RegExp][] = [
  [/./, /--refused\b|(["'`])(?:refused|answer)\1/g],
  [/^migrations\//, /^ {2}(?:answer text|refused bigint) not null/gm],
  [/^src\/idempotency\/queries\.ts$/, /\banswer(?= as |\)$)/gm],
  [/^src\/imports\/queries\.ts$/, /\brefused(?= = |::)/g],
  [/^src\/cli\/import\.ts$/, /(?<=^ +|\{ |\(|rejected: )refused(?=\??:|,| ===)/gm],
  [/^docs\/import-export\.md$/, /\brows, refused,/g],
  [/^compose\.yaml$/, /^ {2}balancer:/gm],
  [/^CHANGELOG\.md$/, /`(?:ANIMALS?|FILE\.refused\.csv)`/g],
]

const avoidedWordsIn = (path: string) => {
  const allowed = ALLOWED_WORDS.filter(([files]) => files.test(path))
  const text = allowed.reduce(
    (rest, [, words]) => rest.replaceAll(words, (use) => '_'.repeat(use.length)),
    read(path),
  )
  return AVOIDED_WORDS.flatMap(([pattern, use]) =>
    [...text.matchAll(pattern)].map(
      ({ 0: word, index }) => `${path}:${text.slice(0, index).split('\n').length}: "${word}", use: ${use}`,
    ),
  )
}

test('no file contains a word of the list AVOIDED_WORDS', () => {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  })
  const paths = String(listed)
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)))
    .filter((path) => !/^package-lock\.json$|^test\/tidy\.test\.ts$|\.png$/.test(path))
  expect(paths.flatMap(avoidedWordsIn)).toEqual([])
})
