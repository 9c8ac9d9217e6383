// Commands, files, paths, variables and error codes that documents name exist.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CLIENT_VARIABLES, VARIABLES } from '../../src/config.ts'
import { ERRORS } from '../../src/errors.ts'
import { type Document, documents, parseDocument, ROOT } from './documents.ts'
import { codeFaults, commandFaults, fileFaults, pathFaults, variableFaults } from './names.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** The changelog also names things that were removed. */
const checked = documents.filter(({ path }) => path !== 'CHANGELOG.md')
const all = (check: (document: Document) => string[]) => checked.flatMap(check)

test('every command and its flags exist', () => {
  expect(all(commandFaults)).toEqual([])
})

test('every file and folder exists', () => {
  expect(all(fileFaults)).toEqual([])
})

test('every path under /v1 exists, with its method and its parameters', () => {
  expect(all(pathFaults)).toEqual([])
})

test('every variable exists and accepts the value that is shown', () => {
  expect(all(variableFaults)).toEqual([])
})

test('every error code exists and has the status that is shown with it', () => {
  expect(all(codeFaults)).toEqual([])
})

test('the tables of errors and variables are complete', () => {
  const codes = [...read('docs/errors.md').matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)]
  expect(Object.fromEntries(codes.map(([, status, code = '']) => [code, Number(status)]))).toEqual(
    Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])),
  )
  const variablesIn = (path: string) =>
    [...read(path).matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name)
  expect(variablesIn('docs/configuration.md')).toEqual(Object.keys(VARIABLES))
  expect(variablesIn('docs/command-line.md')).toEqual(Object.keys(CLIENT_VARIABLES))
})

type Wrong = [check: (document: Document) => string[], text: string, fault: string]
const wrong: Wrong[] = [
  [commandFaults, 'Run `npm run devel` now.', 'there is no npm run devel'],
  [commandFaults, '```sh\nnpm run petstore -- api-keys make --name x\n```', 'petstore has no "make"'],
  [commandFaults, '```sh\nX=$(petstore api-keys create --nam x)\n```', 'petstore create has no --nam'],
  [commandFaults, '```sh\nnode dev/docs.ts --chek\n```', 'dev/docs.ts has no --chek'],
  [commandFaults, '```sh\ncurl x | jqq .id\n```', '"jqq" is not a known program'],
  [commandFaults, '```sh\nnode dev/dokument.ts\n```', 'there is no dev/dokument.ts'],
  [fileFaults, 'See src/http/ap.ts for it.', 'there is no src/http/ap.ts'],
  [fileFaults, 'See `http/ap.ts` for it.', 'there is no http/ap.ts'],
  [pathFaults, '`GET /v1/pet`', 'no operation has the path GET /v1/pet'],
  [pathFaults, '`PUT /v1/pets/{petId}`', 'no operation has the method of PUT /v1/pets/{petId}'],
  [pathFaults, '`/v1/pets/{id}`', 'no operation has the path /v1/pets/{id}'],
  [pathFaults, '`/v1/pets?state=sold`', 'has no parameter state'],
  [variableFaults, 'Set `DATABASE_URI`.', 'there is no variable DATABASE_URI'],
  [variableFaults, '```sh\nexport DATABSE_URL=postgres://x\n```', 'there is no variable DATABSE_URL'],
  [variableFaults, 'With `SHARE_PORT=yes`.', 'SHARE_PORT does not accept yes'],
  [variableFaults, 'Set `PORTS`.', 'there is no variable PORTS'],
  [codeFaults, 'It is 404 `pet_missing`.', '404 `pet_missing` is not an error of the service'],
  [codeFaults, 'It is 400 `pet_not_found`.', '400 `pet_not_found` is not an error of the service'],
  [codeFaults, 'Look for `overload_ed`.', '`overload_ed` does not exist'],
  [codeFaults, "```ts\nif (error.code === 'pet_gone') x()\n```", 'pet_gone is not a code'],
  [
    codeFaults,
    '```json\n{ "code": "order_closed", "message": "x", "status": 404 }\n```',
    'order_closed is not a code',
  ],
]

test.each(wrong.map(([check, text, fault]) => ({ check, text, fault })))(
  'detects $text',
  ({ check, text, fault }) => {
    expect(check(parseDocument('page.md', text)).join('\n')).toContain(fault)
  },
)
