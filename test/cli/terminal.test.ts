import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { buildProgram } from '../../src/cli/program.ts'
import { openTable, table, visible, widthOf } from '../../src/cli/terminal/terminal.ts'
import { FILTER_NAMES, FILTERS } from '../../src/store/pets/filters.ts'
import { runInProcess } from '../support/in-process.ts'

interface Document {
  paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>
  components: { schemas: Record<string, { properties?: Record<string, unknown> }> }
}
const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as Document

test.each([
  ['keeps a plain name', 'Biscuit', 'Biscuit'],
  [
    'keeps accents, other scripts, emoji and their joiners',
    'Zoe\u0301 小狗 👩‍👧 🏳️‍🌈',
    'Zoe\u0301 小狗 👩‍👧 🏳️‍🌈',
  ],
  ['escapes terminal control sequences', '\u001b[31m\u009b2J\u007f', '\\u001b[31m\\u009b2J\\u007f'],
  ['escapes line breaks and tabs', 'a\r\nb\tc\u2028', 'a\\r\\nb\\tc\\u2028'],
  ['escapes characters that change the text direction', '\u202eabc\u2066', '\\u202eabc\\u2066'],
  ['escapes invisible characters', '\u200b\ufeff\u00ad\u{e0041}', '\\u200b\\ufeff\\u00ad\\udb40\\udc41'],
  ['escapes half of a surrogate pair', '\ud83d!', '\\ud83d!'],
])('visible() %s', (_behaviour, text, shown) => {
  expect(visible(text)).toBe(shown)
})

test('a table aligns its columns in every script', () => {
  expect(['Rex', 'Zoe\u0301', '小狗', '🐕', '👩‍👩‍👧‍👦', 'ﾜﾝ', 'ワン', '한국'].map(widthOf)).toEqual([
    3, 3, 4, 2, 2, 2, 4, 4,
  ])
  expect(
    table([
      ['小狗', 'x'],
      ['Rex', 'y'],
    ]),
  ).toBe('小狗  x\nRex   y')
})

test('a table that is printed in parts widens a column when a later part needs it', () => {
  const next = openTable()
  expect(
    next([
      ['ID', 'NAME'],
      ['7', 'Rex'],
    ]),
  ).toBe('ID  NAME\n7   Rex')
  expect(
    next([
      ['1000', 'Luna'],
      ['8', 'Milo'],
    ]),
  ).toBe('1000  Luna\n8     Milo')
})

/** Every command without subcommands, with its full name. */
function commandsOf(command: Command, before: string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[before.join(' '), command]]
  return command.commands.flatMap((sub) => commandsOf(sub, [...before, sub.name()]))
}

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text
}

test('the help of every command has examples; the help of commands for users names PETSTORE_API_KEY', () => {
  for (const [name, command] of commandsOf(buildProgram())) {
    const help = helpOf(command)
    expect(help, name).toMatch(/\nExamples?:\n {2}/)
    expect(help, name).toContain(`petstore ${name}`)
    const isForUsers = /^(?:pets|categories|orders|settings|till|inventory|webhooks|events tail|mcp)/.test(
      name,
    )
    expect(help.includes('Set the API key in PETSTORE_API_KEY'), name).toBe(isForUsers)
  }
})

/** The words of each command and of each group of commands. */
function pathsOf(command: Command, before: string[] = []): string[][] {
  return [before, ...command.commands.flatMap((sub) => pathsOf(sub, [...before, sub.name()]))]
}

/** An example, without a description. A line that a reader can copy must not be broken. */
const EXAMPLE = /^ {2}(?:[A-Z_]+=\S+ )*petstore(?: \S+)+$/

test('the help of every command fits into 80 columns, except long examples', async () => {
  const long: string[] = []
  for (const path of pathsOf(buildProgram())) {
    const { stdout } = await runInProcess([...path, '--help'])
    expect(stdout, path.join(' ')).toContain('Usage:')
    const tooLong = stdout.split('\n').filter((line) => line.length > 80 && !EXAMPLE.test(line))
    long.push(...tooLong.map((line) => `${path.join(' ')}: ${line}`))
  }
  expect(long).toEqual([])
})

test('the help of a group names the scopes, and separates the commands for operators', async () => {
  const { stdout } = await runInProcess(['events', '--help'])
  expect(stdout).toMatch(/Use a running service:\n +tail [^]*Run the service:\n +new-epoch /)
  expect(stdout).toContain('scope events:read')
})

test('the commands for users have an option for every parameter and field of the API', () => {
  const optionsOf = (name: string) => {
    const [, command] = commandsOf(buildProgram()).find(([known]) => known === name) ?? []
    return command?.options.map(({ long }) => long)
  }
  const parametersOf = (path: string, method: string) =>
    document.paths[path]?.[method]?.parameters?.filter((one) => one.in !== 'header').map(({ name }) => name)
  const fieldsOf = (schema: string) => Object.keys(document.components.schemas[schema]?.properties ?? {})
  const common = ['--json', '--url', '--timeout']
  // Lists have no option for `id`, which `pets get` takes, and for `cursor`, which they follow themselves.
  expect(parametersOf('/pets', 'get')).toEqual([
    'limit',
    ...FILTER_NAMES,
    'id',
    'name',
    'word',
    'sort',
    'include',
    'cursor',
  ])
  const ofFilters = FILTER_NAMES.map((name) => FILTERS[name].option.replace(/ .*/, ''))
  const lists = [...ofFilters, '--name', '--word', '--sort', '--include', '--limit', '--all']
  expect(optionsOf('pets list')).toEqual([...lists, ...common])
  expect(parametersOf('/store/orders', 'get')).toEqual([
    'limit',
    'status',
    'petId',
    'sort',
    'closedFrom',
    'closedTo',
    'cursor',
  ])
  const filters = ['--pet', '--status', '--sort', '--closed-from', '--closed-to']
  expect(optionsOf('orders list')).toEqual([...filters, '--limit', '--all', ...common])
  expect(fieldsOf('NewPet')).toEqual(['name', 'categoryId', 'status', 'profile'])
  const facts = [
    '--price',
    '--currency',
    '--breed',
    '--sex',
    '--born-on',
    '--chip-number',
    '--reference',
    '--description',
  ]
  expect(optionsOf('pets add')).toEqual(['--category', '--status', ...facts, '--idempotency-key', ...common])
  expect(fieldsOf('PetChange')).toEqual(['name', 'categoryId', 'status', 'reason'])
  const change = ['--name', '--category', '--status', '--reason', '--if-match']
  expect(optionsOf('pets update')).toEqual([...change, ...common])
  expect(fieldsOf('CategoryName')).toEqual(['name', 'picture'])
  expect(optionsOf('categories put')).toEqual(['--name', '--picture', ...common])
  expect(fieldsOf('NewOrder')).toEqual([
    'petId',
    'holdMinutes',
    'note',
    'price',
    'currency',
    'deposit',
    'method',
  ])
  const order = ['--hold-minutes', '--note', '--price', '--currency', '--deposit', '--method']
  expect(optionsOf('orders place')).toEqual([...order, '--idempotency-key', ...common])
  const completion = ['note', 'price', 'currency', 'method', 'reason']
  expect(fieldsOf('OrderCompletion')).toEqual(completion)
  expect(optionsOf('orders complete')?.toSorted()).toEqual(
    [...completion.map((field) => `--${field}`), ...common].toSorted(),
  )
  expect(parametersOf('/store/entries', 'get')).toEqual(['limit', 'orderId', 'petId', 'from', 'to', 'cursor'])
  const ofEntries = ['--order', '--pet', '--from', '--to', '--limit', '--all']
  expect(optionsOf('till entries')).toEqual([...ofEntries, ...common])
  expect(parametersOf('/store/totals', 'get')).toEqual(['from', 'to', 'by'])
  expect(optionsOf('till totals')).toEqual(['--from', '--to', '--by', ...common])
  const payment = ['--currency', '--method', '--reason']
  expect(fieldsOf('OrderCorrection')).toEqual(['price', 'currency', 'method', 'reason'])
  expect(optionsOf('till correct')).toEqual([...payment, ...common])
  expect(fieldsOf('OrderRefund')).toEqual(['amount', 'currency', 'takeBack', 'method', 'reason'])
  const back = ['--take-back', '--without-pet']
  expect(optionsOf('till refund')).toEqual([...back, ...payment, '--idempotency-key', ...common])
  expect(fieldsOf('DepositSettlement')).toEqual(['refund', 'currency', 'method', 'reason'])
  expect(optionsOf('till settle')).toEqual([...payment, '--idempotency-key', ...common])
  expect(fieldsOf('CashMovement')).toEqual(['direction', 'amount', 'currency', 'note'])
  expect(optionsOf('till cash')).toEqual(['--note', '--currency', '--idempotency-key', ...common])
  expect(fieldsOf('NewClosing')).toEqual(['day', 'counted', 'kept', 'note', 'currency'])
  expect(optionsOf('till close')).toEqual(['--counted', '--kept', '--note', '--currency', ...common])
  expect(fieldsOf('NewWebhook')).toEqual(['url', 'description', 'types'])
  expect(optionsOf('webhooks create')).toEqual(['--type', '--description', ...common])
  // `enabled` has commands of its own.
  expect(fieldsOf('WebhookChanges')).toEqual(['url', 'description', 'types', 'enabled'])
  expect(optionsOf('webhooks update')).toEqual(['--receiver', '--type', '--description', ...common])
  expect(parametersOf('/webhooks/{webhookId}/deliveries', 'get')).toEqual([
    'limit',
    'outcome',
    'cursor',
    'webhookId',
  ])
  expect(optionsOf('webhooks deliveries')).toEqual(['--outcome', '--limit', '--all', ...common])
  expect(fieldsOf('SecretRotation')).toEqual(['overlapSeconds'])
  expect(optionsOf('webhooks rotate-secret')).toEqual(['--overlap', ...common])
})
