// The table of commands in docs/command-line.md. guides.process.test.ts runs the commands of the page.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { buildProgram } from '../../src/cli/program.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/command-line.md'), 'utf8')

/** `petstore events new-epoch` is a command for operators in a group of commands for users. */
const isForUsers = ({ options }: Command) => options.some(({ long }) => long === '--url')

/** Administrators manage keys with `petstore api-keys`, which uses the database. */
const WITHOUT_COMMAND = ['createApiKey', 'revokeApiKey', 'revokeOwnApiKey', 'rotateApiKey', 'updateApiKey']

const rows = [...page.matchAll(/^\| `petstore ([a-z -]+)` \| `(\w+)` \|$/gm)]
const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string }>>
}
const operationsOf = (isWanted: (method: string) => boolean) =>
  Object.values(paths).flatMap((methods) =>
    Object.entries(methods).flatMap(([method, { operationId }]) => (isWanted(method) ? operationId : [])),
  )

test('every operation that changes something has a command', () => {
  const called = new Set(rows.map(([, , operation = '']) => operation))
  const missing = operationsOf((method) => method !== 'get').filter((operation) => !called.has(operation))
  expect(missing.toSorted()).toEqual(WITHOUT_COMMAND)
})

test('the table lists every command for users with its operation', () => {
  const operations = operationsOf(() => true)
  for (const [, , operation = ''] of rows) expect(operations).toContain(operation)
  const groups = buildProgram().commands.filter((command) => command.helpGroup() === 'Use a running service:')
  const named = groups.flatMap((group) =>
    group.commands.length === 0
      ? [group.name()]
      : group.commands.filter(isForUsers).map((command) => `${group.name()} ${command.name()}`),
  )
  expect(rows.map(([, name]) => name)).toEqual(named)
})
