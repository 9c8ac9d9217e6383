// docs/command-line.md is true: after `npm run dev`, its commands run one after the other in one shell, and print what the
// page shows.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { addDemoAnimals } from '../../dev/demo.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { openCounter } from '../cli/counter.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Some fifteen commands, each with a start of npm, on a machine that does other things. */
const SCRIPT_TIMEOUT_MS = 90_000
const END_OF_OUTPUT = '--- end of output ---'
const page = readFileSync(join(ROOT, 'docs/command-line.md'), 'utf8')
const [setUp, ...blocks] = [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language, text = '']) => ({
  language,
  text,
}))
const commands = blocks.filter((_, index) => index % 2 === 0)
const outputs = blocks.filter((_, index) => index % 2 === 1)

/** What differs from run to run: times and request ids stand for any of their kind. */
function comparable(output: string): string {
  return output
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, '[the minute   ]')
    .replaceAll(/request [0-9a-f]{32}\.\d+/g, 'request [id]')
}

test('each command on the page is followed by what it prints', () => {
  expect(setUp?.language).toBe('sh')
  expect(commands.map(({ language }) => language)).toEqual(commands.map(() => 'sh'))
  expect(outputs.map(({ language }) => language)).toEqual(commands.map(() => 'text'))
})

test('the commands of the page print what the page shows', { timeout: SCRIPT_TIMEOUT_MS }, async () => {
  const { shop, environment } = await openCounter('dev')
  await addDemoAnimals(shop.db)
  const script = [
    setUp?.text.replace('petstore_test_…', environment['PETSTORE_API_KEY'] ?? ''),
    ...commands.map(({ text }) => `{ ${text}} 2>&1\nprintf '%s' '${END_OF_OUTPUT}'\n`),
  ]
  const { PATH = '', HOME = '' } = process.env
  const { stdout } = await promisify(execFile)(
    'bash',
    ['--norc', '-euo', 'pipefail', '-c', script.join('')],
    {
      cwd: ROOT,
      env: { PATH, HOME, ...environment },
      timeout: SCRIPT_TIMEOUT_MS,
    },
  )
  const printed = stdout.split(END_OF_OUTPUT).slice(0, -1)
  expect(printed.map(comparable)).toEqual(outputs.map(({ text }) => comparable(text)))
})

test('the table has every command for users, with its operation and scope', () => {
  const rows = [...page.matchAll(/^\| `petstore ([a-z ]+)` \| `(\w+)` \| `([\w:]+)` \|$/gm)]
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string; 'x-scope'?: string }>>
  }
  const scopes = new Map(
    Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .map((operation) => [operation.operationId, operation['x-scope']]),
  )
  for (const [, , operation = '', scope] of rows) expect(scope, operation).toBe(scopes.get(operation))
  const groups = buildProgram().commands.filter((command) => command.helpGroup() === 'Use a running service:')
  const named = groups.flatMap((group) =>
    group.commands.length === 0
      ? [group.name()]
      : group.commands.map((command) => `${group.name()} ${command.name()}`),
  )
  expect(rows.map(([, name]) => name)).toEqual(named)
})
