// Runs the commands and programs of every document in order, against a running service on PostgreSQL, and compares their
// output with the document: first the documents for readers of the quick start, one after the other on the same data, then
// the others. `vitest run test/docs -t docs/selling.md` runs one document.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openDeliveryMetrics } from '../../src/events/delivery/metrics.ts'
import { parseExactly } from '../support/client.ts'
import { documents, parseDocument, ROOT } from '../support/documents.ts'
import { linesToRun } from './commands.ts'
import { openGuideRunner } from './guide-runner.ts'
import { type Guide, guideOf, stepName } from './guide.ts'
import { metricsNamed, otherPaths } from './names.ts'
import { type Ids, toCompare } from './output-pattern.ts'
import { GUIDE_TIMEOUT_MS, type Printed } from './page-shell.ts'
import { openReaderRunner, readerPaths } from './reader-runner.ts'

/** A block without a language is a diagram. */
const LANGUAGES = new Set([
  'sh',
  'ts',
  'js',
  'py',
  'json',
  'text',
  'http',
  'csv',
  'sql',
  'yaml',
  'mermaid',
  '',
])
const OUTPUT_ONLY = new Set(['text', 'http'])

const forReaders = readerPaths(documents)
const places = [...forReaders, ...documents.map(({ path }) => path)]
/** Its commands install and change a whole server. `npm run drill -- production` runs them. */
const OF_A_SERVER = 'docs/production.md'
const guides = documents
  .filter(({ path }) => path !== OF_A_SERVER)
  .map(guideOf)
  .filter(({ steps }) => steps.length > 0)
  .toSorted((a, b) => places.indexOf(a.path) - places.indexOf(b.path))
const wrong = {
  output: guideOf(parseDocument('wrong-output.md', '```sh\necho 5 pets\n```\n\n```text\n6 pets\n```\n')),
  rejection: guideOf(
    parseDocument('wrong-address.md', '```sh\ncurl -s http://127.0.0.1:3000/v1/pets\n```\n'),
  ),
  program: guideOf(
    parseDocument(
      'wrong-program.md',
      "```ts\nimport { Petstore } from '@petstore/client'\nnew Petstore({ url: '' })\n```\n",
    ),
  ),
}
const FOR_READERS = 'for-readers/'
const wrongForReaders = [
  // The links of `npm run dev` are absolute.
  '```sh\ncurl -fsS "$PETSTORE_URL$(curl -fsSI "$PETSTORE_URL/v1/pets" -H "Authorization: Bearer $PETSTORE_API_KEY" | sed -n \'s/^link: <\\(.*\\)>.*/\\1/p\')"\n```\n',
  // The project has no `"type": "module"`.
  "```ts module.js\nimport { Petstore } from '@petstore/client'\n```\n\n```sh\nnode module.js\n```\n",
  // The reader is in the project, not in the clone.
  '```sh\nbin/petstore.ts pets list\n```\n',
].map((text, index) => guideOf(parseDocument(`${FOR_READERS}${index}.md`, text)))
const runner = await openGuideRunner([...guides, ...Object.values(wrong)])
const reader = openReaderRunner({
  guides: [...guides, ...wrongForReaders],
  documents,
  commandServer: runner.commandServer,
})
const runnerOf = ({ path }: Guide) =>
  forReaders.includes(path) || path.startsWith(FOR_READERS) ? reader : runner

/** Error statuses that the page does not show. */
function unexpectedStatuses({ path, steps }: Guide, printed: Map<string, Printed>): string[] {
  return steps.flatMap(({ line, shown }) =>
    (printed.get(stepName(path, line))?.statuses ?? [])
      .filter((status) => !/^[23]/.test(status) && !shown?.text.includes(status))
      .map((status) => `the request at line ${line} returned ${status}`),
  )
}

async function runGuide(guide: Guide): Promise<void> {
  const printed = await runnerOf(guide).run(guide)
  const unexpected = unexpectedStatuses(guide, printed)
  expect(unexpected, unexpected.join('\n')).toEqual([])
  const ids: Ids = new Map()
  for (const { line, shown } of guide.steps) {
    if (shown === undefined) continue
    const step = stepName(guide.path, line)
    const compared = toCompare(shown, printed.get(step)?.text ?? '', ids)
    expect(compared.printed, step).toEqual(compared.shown)
  }
}

/** Loops that never end if a command in them fails. `until` has no other end than its condition. */
function unboundedLoops(text: string): string[] {
  const loops = [...text.matchAll(/^ *(while|until) [^]*?\bdone\b/gm)]
  return loops
    .filter(([loop, word]) => word === 'until' || !loop.includes('|| break'))
    .map(([loop]) => loop.split('\n')[0] ?? '')
}

const typeCheck = (checked: readonly Guide[]) =>
  promisify(execFile)(
    join(ROOT, 'node_modules/.bin/tsc'),
    [
      ...'--noEmit --strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --skipLibCheck'.split(
        ' ',
      ),
      ...'--target esnext --module nodenext --types node --allowJs --checkJs --ignoreConfig'.split(' '),
      ...checked.flatMap((guide) =>
        guide.files
          .filter(({ name }) => /\.m?[tj]s$/.test(name))
          .map(({ name }) => join(runner.folderOf(guide), name)),
      ),
    ],
    { cwd: runner.folder },
  )

test.each(guides)(
  '$path: commands and programs succeed and print the output that the page shows',
  { timeout: GUIDE_TIMEOUT_MS },
  runGuide,
)

test('programs in documents pass the type check', { timeout: GUIDE_TIMEOUT_MS }, async () => {
  await typeCheck(guides)
})

test('every metric in a document exists', async () => {
  const ofService = await (await fetch(`${runner.adminOrigin}/metrics`)).text()
  const memoryBytes = { messages: 0, sending: 0, events: 0 }
  const lagSeconds = new Map([[1n, 0]])
  const idle = { enabled: 0, disabled: 0, failing: 0, lagSeconds, inFlight: 0, memoryBytes }
  const ofDelivery = openDeliveryMetrics(() => idle)
  ofDelivery.observe('delivered', 1)
  const metrics = ofService + (await ofDelivery.registry.metrics())
  const names = documents.flatMap(metricsNamed)
  expect(names).not.toEqual([])
  expect(names.filter((name) => !metrics.includes(`# HELP ${name} `))).toEqual([])
})

test('every path outside /v1 in a document returns 200 on one of the two ports', async () => {
  const paths = new Set(documents.flatMap(otherPaths))
  expect(paths).toContain('/ready')
  for (const path of paths) {
    const responses = [runner.origin, runner.adminOrigin].map((origin) => fetch(origin + path))
    const statuses = (await Promise.all(responses)).map(({ status }) => status)
    expect(statuses, path).toContain(200)
  }
})

test('every block has a known language, and every output follows the block that prints it', () => {
  const problems = documents.flatMap(({ path, blocks }) =>
    blocks
      .filter(
        ({ language, followsBlock }) =>
          !LANGUAGES.has(language) || (OUTPUT_ONLY.has(language) && !followsBlock),
      )
      .map(({ line }) => `${path}:${line}`),
  )
  expect(problems).toEqual([])
})

test('every JSON block parses', () => {
  const problems = documents.flatMap(({ path, blocks }) =>
    blocks
      .filter(({ language, text }) => language === 'json' && parseExactly(text) === undefined)
      .map(({ line }) => `${path}:${line}`),
  )
  expect(problems).toEqual([])
})

test('a log line has the fields that docs/monitoring.md shows', () => {
  const shown = documents
    .flatMap(({ blocks }) => blocks)
    .filter(({ text }) => text.includes('"msg":"request"'))
  const logged = /^.*"operation":"listPets","status":200.*$/m.exec(reader.log())?.[0] ?? '{}'
  expect(shown.map(({ text }) => Object.keys(JSON.parse(text) as object))).toEqual([
    Object.keys(JSON.parse(logged) as object),
  ])
})

test('a command that the tests skip takes the other parts of its pipe with it', () => {
  expect(linesToRun('echo one |\n  install -m 600 /dev/stdin two\necho three')).toEqual(['echo three'])
})

test('the runner detects wrong output, a rejected request and a wrong program', {
  timeout: GUIDE_TIMEOUT_MS,
}, async () => {
  await expect(runGuide(wrong.output)).rejects.toThrow('wrong-output.md:2')
  await expect(runGuide(wrong.rejection)).rejects.toThrow('returned 401')
  await expect(runGuide(wrong.program)).rejects.toThrow('the step wrong-program.md:2')
  await expect(typeCheck([wrong.program])).rejects.toMatchObject({
    stdout: expect.stringContaining("'url'"),
  })
})

test.each(wrongForReaders)(
  'the runner for readers detects what only works for its authors: $path',
  {
    timeout: GUIDE_TIMEOUT_MS,
  },
  async (guide) => {
    await expect(runGuide(guide)).rejects.toThrow(`the step ${guide.path}`)
  },
)

test('every loop of a document ends, also after an error', () => {
  const problems = documents.flatMap(({ path, blocks }) =>
    blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text, line }) => unboundedLoops(text).map((loop) => `${path}:${line}: ${loop}`)),
  )
  expect(problems).toEqual([])
  expect(unboundedLoops('until grep -q x log; do sleep 1; done')).toHaveLength(1)
  expect(unboundedLoops('while [ -n "$next" ]; do\n  curl "$next"\ndone')).toHaveLength(1)
  expect(unboundedLoops('while [ -n "$next" ]; do\n  curl -f "$next" || break\ndone')).toEqual([])
  expect(unboundedLoops('for i in $(seq 9); do sleep 1; done')).toEqual([])
})

test('no request of a document fails without a message', () => {
  const problems = documents.flatMap(({ path, blocks }) =>
    blocks
      .filter(({ language, text }) => language === 'sh' && /\bcurl -(?=\w*s)(?!\w*S)/.test(text))
      .map(({ line }) => `${path}:${line}: use curl -sS, which prints errors`),
  )
  expect(problems).toEqual([])
})

test('the comparison ignores values that differ between runs, and detects other differences', () => {
  const alike = (language: string, shown: string, printed: string, ids: Ids = new Map()) => {
    const [block] = parseDocument('x.md', `\`\`\`${language}\n${shown}\n\`\`\``).blocks
    const compared = toCompare(block as NonNullable<typeof block>, printed, ids)
    return JSON.stringify(compared.shown) === JSON.stringify(compared.printed)
  }
  expect(alike('text', 'a … c\n…\nend', 'a b c\nx\ny\nend\n')).toBe(true)
  expect(alike('text', 'a … c\n…', 'a b c')).toBe(true)
  expect(alike('text', 'a … c', 'a b d')).toBe(false)
  expect(alike('text', 'a', 'a\nb')).toBe(false)
  expect(alike('json', '[{ "id": 1 }, "…"]', '[{"id":1},{"id":2}]')).toBe(true)
  expect(alike('json', '[{ "id": 1 }]', '[{"id":1},{"id":2}]')).toBe(false)
  const order = (expiresAt: string) => JSON.stringify({ createdAt: '2026-11-15T11:30:00.000Z', expiresAt })
  expect(alike('json', order('2026-11-15T12:00:00.000Z'), order('2026-11-15T12:00:00.100Z'))).toBe(true)
  expect(alike('json', order('2026-11-15T12:00:00.000Z'), order('2026-11-15T12:30:00.000Z'))).toBe(false)
  const ids: Ids = new Map()
  expect(alike('json', '{ "id": 501, "categoryId": 1 }', '{"id":612,"categoryId":1}', ids)).toBe(true)
  expect(alike('text', 'order 431 of pet 501', 'order 435 of pet 612', ids)).toBe(true)
  expect(alike('text', 'pet 501', 'pet 613', ids)).toBe(false)
  expect(alike('text', 'pet 502', 'pet 612', ids)).toBe(false)
  expect(alike('text', 'pet 500', 'pet 612', ids)).toBe(false)
  expect(alike('json', '{ "id": 432, "petId": 501 }', '{"id":436,"petId":612}', ids)).toBe(true)
  const counts = '{ "available": 350, "pending": 75, "sold": 75 }'
  expect(alike('json', counts, '{"available":1,"pending":2,"sold":3}')).toBe(true)
  expect(alike('json', counts, '{"available":1,"pending":2,"sold":"3"}')).toBe(false)
})
