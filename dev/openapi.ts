// `npm run openapi`: writes openapi.json from the schemas, and the types and rules of the client from openapi.json. With
// --check, it only checks that these files are up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { say } from '../src/cli/terminal/terminal.ts'
import { clientRules } from './client-rules.ts'
import { clientTypes, type InterfaceDocument } from './client-types.ts'
import { interfaceDocument } from './interface-document.ts'

const ROOT = resolve(import.meta.dirname, '..')

const json = `${JSON.stringify(await interfaceDocument(), null, 2)}\n`
const document = JSON.parse(json) as InterfaceDocument
const generated = {
  'openapi.json': json,
  'client/src/interface.ts': clientTypes(document),
  'client/src/rules.ts': clientRules(document),
}
for (const [file, text] of Object.entries(generated)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(join(ROOT, file), text)
  } else if (readFileSync(join(ROOT, file), 'utf8') !== text) {
    say(`${file} is out of date. Run: npm run openapi`)
    process.exitCode = 1
  }
}
