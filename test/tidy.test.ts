// The rules of the house that a machine can check. Those of the documents are in test/docs/.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const FILE_LINES_MAX = 300
const SCRIPTS_MAX = 12

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const filesIn = (folder: string, ending: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path))

const sources = ['src', 'bin', 'dev', 'bench', 'client/src'].flatMap((folder) => filesIn(folder, '.ts'))
const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts

/** From the ground up: a file may import from its own layer and from those before it. */
const LAYERS = [
  // The client is for others: it knows nothing of the service but its interface.
  /^client\/src\//,
  /^src\/(caller|category-policy|counts|deadlines|fresh-holds|errors|int64|int64-schema|ip-address|json|paging|pet-status|scopes|version)\.ts$/,
  /^src\/orders\/hold-limit\.ts$/,
  /^src\/config\.ts$/,
  /^src\/db\//,
  /^src\/telemetry\//,
  /^src\/(?!db|telemetry|http|pages|server|cli)[\w-]+\/(schema|format)\.ts$/,
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
]

const layerOf = (path: string) => LAYERS.findIndex((pattern) => pattern.test(path))

function importsOf(path: string): string[] {
  return [...read(path).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, target = '']) =>
    relative(ROOT, resolve(ROOT, dirname(path), target)),
  )
}

test('imports flow one way: no file imports from a layer above its own', () => {
  const upward = sources.flatMap((path) => {
    expect(layerOf(path), `${path} has no layer`).toBeGreaterThanOrEqual(0)
    return importsOf(path)
      .filter((target) => layerOf(target) > layerOf(path))
      .map((target) => `${path} imports ${target}`)
  })
  expect(upward).toEqual([])
})

test('src/http is made of building blocks: it imports no feature', () => {
  const features = sources
    .filter((path) => path.startsWith('src/http/'))
    .flatMap((path) => importsOf(path).map((target) => ({ path, target })))
    .filter(({ target }) => /^src\/[\w-]+\//.test(target) && !/^src\/(http|telemetry)\//.test(target))
  expect(features).toEqual([])
})

/** A pet's status and its open order are one rule: changing a pet asks for its order, and an order changes its pet. */
const MUTUAL_IMPORTS = ['orders and pets']

test('no two folders of src import each other', () => {
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

test('the environment is read in config.ts alone', () => {
  const readers = sources.filter((path) => read(path).includes('process.env'))
  expect(readers).toEqual(['src/config.ts'])
})

test('no file of the sources is too long to read at once', () => {
  const written = sources.filter((path) => !read(path).startsWith('// Written by `npm run'))
  const long = written.filter((path) => read(path).split('\n').length > FILE_LINES_MAX)
  expect(long).toEqual([])
})

test('folders have names that a person would say', () => {
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

test('the scripts are few, and no host of a registry is in a file', () => {
  expect(Object.keys(scripts).length).toBeLessThanOrEqual(SCRIPTS_MAX)
  expect(read('package-lock.json')).not.toMatch(/"resolved": "https?:/)
})
