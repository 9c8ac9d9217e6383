// Whatever a document names is there: a reader who types it, opens it or sets it finds what the page says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CLIENT_VARIABLES, VARIABLES } from '../../src/config.ts'
import { ERRORS } from '../../src/errors.ts'
import { type Document, documents, parseDocument, ROOT } from './documents.ts'
import { addressFaults, codeFaults, commandFaults, fileFaults, variableFaults } from './names.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** It tells what once was, too; its links are checked with the others. */
const present = documents.filter(({ path }) => path !== 'CHANGELOG.md')
const all = (check: (document: Document) => string[]) => present.flatMap(check)

test('every command exists, with its flags', () => {
  expect(all(commandFaults)).toEqual([])
})

test('every file and folder exists', () => {
  expect(all(fileFaults)).toEqual([])
})

test('every address under /v1 exists, with its method and its parameters', () => {
  expect(all(addressFaults)).toEqual([])
})

test('every variable exists, and may have the value that is shown', () => {
  expect(all(variableFaults)).toEqual([])
})

test('every error code exists, and has the status that is told with it', () => {
  expect(all(codeFaults)).toEqual([])
})

test('every error code and every variable is documented', () => {
  const codes = [...read('docs/errors.md').matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)]
  expect(Object.fromEntries(codes.map(([, status, code = '']) => [code, Number(status)]))).toEqual(
    Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])),
  )
  const variablesIn = (path: string) =>
    [...read(path).matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name)
  expect(variablesIn('docs/configuration.md')).toEqual(Object.keys(VARIABLES))
  expect(variablesIn('docs/command-line.md')).toEqual(Object.keys(CLIENT_VARIABLES))
})

type Planted = [check: (document: Document) => string[], text: string, fault: string]
const planted: Planted[] = [
  [commandFaults, 'Run `npm run devel` now.', 'there is no npm run devel'],
  [commandFaults, '```sh\nnpm run petstore -- api-keys make --name x\n```', 'petstore has no "make"'],
  [commandFaults, '```sh\nX=$(petstore api-keys create --nam x)\n```', 'petstore create has no --nam'],
  [commandFaults, '```sh\nnode dev/docs.ts --chek\n```', 'dev/docs.ts has no --chek'],
  [commandFaults, '```sh\ncurl x | jqq .id\n```', '"jqq" is no program that a reader has'],
  [commandFaults, '```sh\nnode dev/dokument.ts\n```', 'there is no dev/dokument.ts'],
  [fileFaults, 'See src/http/ap.ts for it.', 'there is no src/http/ap.ts'],
  [fileFaults, 'See `http/ap.ts` for it.', 'there is no http/ap.ts'],
  [addressFaults, '`GET /v1/pet`', 'nothing is at GET /v1/pet'],
  [addressFaults, '`PUT /v1/pets/{petId}`', 'no operation is PUT /v1/pets/{petId}'],
  [addressFaults, '`/v1/pets/{id}`', 'nothing is at /v1/pets/{id}'],
  [addressFaults, '`/v1/pets?state=sold`', 'has no parameter state'],
  [variableFaults, 'Set `DATABASE_URI`.', 'there is no variable DATABASE_URI'],
  [variableFaults, '```sh\nexport DATABSE_URL=postgres://x\n```', 'there is no variable DATABSE_URL'],
  [variableFaults, 'With `SHARE_PORT=yes`.', 'SHARE_PORT cannot be yes'],
  [variableFaults, 'Set `PORTS`.', 'there is no variable PORTS'],
  [codeFaults, 'It is 404 `pet_missing`.', '404 `pet_missing` is no error of the service'],
  [codeFaults, 'It is 400 `pet_not_found`.', '400 `pet_not_found` is no error of the service'],
  [codeFaults, 'Look for `overload_ed`.', '`overload_ed` is nothing that there is'],
  [codeFaults, "```ts\nif (error.code === 'pet_gone') x()\n```", 'pet_gone is no code'],
  [
    codeFaults,
    '```json\n{ "code": "order_closed", "message": "x", "status": 404 }\n```',
    'order_closed is no code',
  ],
]

test.each(planted.map(([check, text, fault]) => ({ check, text, fault })))(
  'a page that says $text is seen to be wrong',
  ({ check, text, fault }) => {
    expect(check(parseDocument('page.md', text)).join('\n')).toContain(fault)
  },
)
