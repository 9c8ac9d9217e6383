// The commands, files, paths, variables and error codes in documents exist.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CLIENT_VARIABLES, VARIABLES } from '../../src/config/config.ts'
import { ERRORS } from '../../src/contract/errors.ts'
import { type Document, documents, parseDocument, ROOT } from '../support/documents.ts'
import { codeProblems, commandProblems, fileProblems, pathProblems, variableProblems } from './names.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** The changelog also names things that were removed. */
const checked = documents.filter(({ path }) => path !== 'CHANGELOG.md')
const all = (check: (document: Document) => string[]) => checked.flatMap(check)

test('every command and its flags exist', () => {
  expect(all(commandProblems)).toEqual([])
})

test('every file and folder exists', () => {
  expect(all(fileProblems)).toEqual([])
})

test('every path under /v1 exists, with its method and its parameters', () => {
  expect(all(pathProblems)).toEqual([])
})

test('every parameter of openapi.json is named in the code of a page in docs/', () => {
  const { paths } = JSON.parse(read('openapi.json')) as {
    paths: Record<string, Record<string, { operationId: string; parameters?: { name: string }[] }>>
  }
  const code = checked
    .filter(({ path }) => /^docs\/[\w-]+\.md$/.test(path))
    .flatMap(({ blocks, spans }) => [...blocks, ...spans].map(({ text }) => text))
    .join('\n')
  const isNamed = (name: string) => new RegExp(String.raw`(?<![\w-])${name}(?![\w-])`, 'i').test(code)
  const missing = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, parameters = [] }) => parameters.map(({ name }) => ({ operationId, name })))
    .filter(({ name }) => !isNamed(name))
  expect(missing).toEqual([])
})

test('every variable exists and accepts the value that is shown', () => {
  expect(all(variableProblems)).toEqual([])
})

test('every error code exists and has the status that is shown with it', () => {
  expect(all(codeProblems)).toEqual([])
})

test('the tables of errors and variables are complete', () => {
  const codes = [...read('docs/errors.md').matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)]
  expect(Object.fromEntries(codes.map(([, status, code = '']) => [code, Number(status)]))).toEqual(
    Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])),
  )
  const variablesIn = (path: string) =>
    [...read(path).matchAll(/^\| \*{0,2}`([A-Z_]+)`\*{0,2} \|/gm)].map(([, name = '']) => name).sort()
  expect(variablesIn('docs/configuration.md')).toEqual(Object.keys(VARIABLES).sort())
  expect(variablesIn('docs/command-line.md')).toEqual(Object.keys(CLIENT_VARIABLES).sort())
})

type Wrong = [check: (document: Document) => string[], text: string, problem: string]
const wrong: Wrong[] = [
  [commandProblems, 'Run `npm run devel` now.', 'there is no npm run devel'],
  [commandProblems, '```sh\nnpm run petstore -- api-keys make --name x\n```', 'petstore has no "make"'],
  [commandProblems, '```sh\nX=$(petstore api-keys create --nam x)\n```', 'petstore create has no --nam'],
  [commandProblems, '```sh\nnode dev/docs.ts --chek\n```', 'dev/docs.ts has no --chek'],
  [commandProblems, '```sh\ncurl x | jqq .id\n```', '"jqq" is not a known program'],
  [commandProblems, '```sh\nnode dev/dokument.ts\n```', 'there is no dev/dokument.ts'],
  [fileProblems, 'See src/http/ap.ts for it.', 'there is no src/http/ap.ts'],
  [fileProblems, 'See `http/ap.ts` for it.', 'there is no http/ap.ts'],
  [pathProblems, '`GET /v1/pet`', 'no operation has the path GET /v1/pet'],
  [pathProblems, '`PUT /v1/pets/{petId}`', 'no operation has the method of PUT /v1/pets/{petId}'],
  [pathProblems, '`/v1/pets/{id}`', 'no operation has the path /v1/pets/{id}'],
  [pathProblems, '`/v1/pets?state=sold`', 'has no parameter state'],
  [variableProblems, 'Set `DATABASE_URI`.', 'there is no variable DATABASE_URI'],
  [variableProblems, '```sh\nexport DATABSE_URL=postgres://x\n```', 'there is no variable DATABSE_URL'],
  [variableProblems, 'With `SHARE_PORT=yes`.', 'SHARE_PORT does not accept yes'],
  [variableProblems, 'Set `PORTS`.', 'there is no variable PORTS'],
  [codeProblems, 'It is 404 `pet_missing`.', '404 `pet_missing` is not an error of the service'],
  [codeProblems, 'It is 400 `pet_not_found`.', '400 `pet_not_found` is not an error of the service'],
  [codeProblems, 'Look for `overload_ed`.', '`overload_ed` does not exist'],
  [codeProblems, "```ts\nif (error.code === 'pet_gone') x()\n```", 'pet_gone is not a code'],
  [
    codeProblems,
    '```json\n{ "code": "order_closed", "message": "x", "status": 404 }\n```',
    'order_closed is not a code',
  ],
]

test.each(wrong.map(([check, text, problem]) => ({ check, text, problem })))(
  'detects a mistake: $problem',
  ({ check, text, problem }) => {
    expect(check(parseDocument('page.md', text)).join('\n')).toContain(problem)
  },
)
