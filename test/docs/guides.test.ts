// The documents are true: their commands and programs run one after the other, against a real service on real
// PostgreSQL, and print what the page shows. `vitest run test/docs -t docs/selling.md` runs one of them.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parseExactly } from '../support/client.ts'
import { type Document, documents, parseDocument, ROOT } from './documents.ts'
import { type Guide, guideOf, stepName } from './guide.ts'
import { toCompare } from './output-pattern.ts'
import { metricsNamed, otherAddresses } from './names.ts'
import { GUIDE_TIMEOUT_MS, openGuideRunner, type Printed } from './guide-runner.ts'

/** Without a language it is a map or a drawing. */
const KINDS = new Set(['sh', 'ts', 'js', 'json', 'text', 'http', 'csv', 'sql', ''])
const PRINTED = new Set(['text', 'http'])

const guides = documents.map(guideOf).filter(({ steps }) => steps.length > 0)
const planted = {
  output: guideOf(
    parseDocument('wrong-output.md', '```sh\necho 5 animals\n```\n\n```text\n6 animals\n```\n'),
  ),
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
const runner = await openGuideRunner([...guides, ...Object.values(planted)])

/** A refusal that the page does not show is one that its reader did not expect. */
function unexpectedRejections({ path, steps }: Guide, printed: Map<string, Printed>): string[] {
  return steps.flatMap(({ line, shown }) =>
    (printed.get(stepName(path, line))?.statuses ?? [])
      .filter((status) => !/^[23]/.test(status) && !shown?.text.includes(status))
      .map((status) => `the command at line ${line} was answered ${status}`),
  )
}

async function tryOut(guide: Guide): Promise<void> {
  const printed = await runner.run(guide)
  const rejections = unexpectedRejections(guide, printed)
  expect(rejections, rejections.join('\n')).toEqual([])
  for (const { line, shown } of guide.steps) {
    if (shown === undefined) continue
    const step = stepName(guide.path, line)
    const both = toCompare(shown, printed.get(step)?.text ?? '')
    expect(both.printed, step).toEqual(both.shown)
  }
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
  '$path: its commands and programs run, and print what it shows',
  { timeout: GUIDE_TIMEOUT_MS },
  tryOut,
)

test('every program of the documents has the right types', { timeout: GUIDE_TIMEOUT_MS }, async () => {
  await typeCheck(guides)
})

test.each(documents)(
  '$path: every address beside /v1 is answered, every figure is measured',
  async (document: Document) => {
    const metrics = await (await fetch(`${runner.adminOrigin}/metrics`)).text()
    expect(metricsNamed(document).filter((name) => !metrics.includes(`\n${name}`))).toEqual([])
    for (const address of otherAddresses(document)) {
      const responses = await Promise.all(
        [runner.origin, runner.adminOrigin].map(async (origin) => (await fetch(origin + address)).status),
      )
      expect(responses, address).toContain(200)
    }
  },
)

test('every block is of a kind that is tested here, and what is printed follows what prints it', () => {
  const faults = documents.flatMap(({ path, blocks }) =>
    blocks
      .filter(
        ({ language, followsBlock }) => !KINDS.has(language) || (PRINTED.has(language) && !followsBlock),
      )
      .map(({ line }) => `${path}:${line}`),
  )
  expect(faults).toEqual([])
})

test('whatever is shown as JSON is JSON', () => {
  const faults = documents.flatMap(({ path, blocks }) =>
    blocks
      .filter(({ language, text }) => language === 'json' && parseExactly(text) === undefined)
      .map(({ line }) => `${path}:${line}`),
  )
  expect(faults).toEqual([])
})

test('a line of the log has the fields that docs/running.md shows', () => {
  const shown = documents
    .flatMap(({ blocks }) => blocks)
    .filter(({ text }) => text.includes('"msg":"request"'))
  const written = /^.*"operation":"listPets","status":200.*$/m.exec(runner.log())?.[0] ?? '{}'
  expect(shown.map(({ text }) => Object.keys(JSON.parse(text) as object))).toEqual([
    Object.keys(JSON.parse(written) as object),
  ])
})

test('a page that shows something else, asks what is refused, or has a wrong program is seen', {
  timeout: GUIDE_TIMEOUT_MS,
}, async () => {
  await expect(tryOut(planted.output)).rejects.toThrow('wrong-output.md:2')
  await expect(tryOut(planted.rejection)).rejects.toThrow('was answered 401')
  await expect(tryOut(planted.program)).rejects.toThrow('the step wrong-program.md:2')
  await expect(typeCheck([planted.program])).rejects.toMatchObject({
    stdout: expect.stringContaining("'url'"),
  })
})

test('documents that say the same to a reader are compared as that', () => {
  const alike = (language: string, shown: string, printed: string) => {
    const [block] = parseDocument('x.md', `\`\`\`${language}\n${shown}\n\`\`\``).blocks
    const both = toCompare(block as NonNullable<typeof block>, printed)
    return JSON.stringify(both.shown) === JSON.stringify(both.printed)
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
})
