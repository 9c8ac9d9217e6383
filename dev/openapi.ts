// `npm run openapi`: writes openapi.json from the schemas, and the types of the client from it; with --check, only
// says whether they are fresh.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { say } from '../src/cli/terminal.ts'
import { clientTypes, type InterfaceDocument } from './client-types.ts'
import { interfaceDocument } from './interface-document.ts'

const ROOT = resolve(import.meta.dirname, '..')

const json = `${JSON.stringify(await interfaceDocument(), null, 2)}\n`
const fresh = {
  'openapi.json': json,
  'client/src/interface.ts': clientTypes(JSON.parse(json) as InterfaceDocument),
}
for (const [file, text] of Object.entries(fresh)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(join(ROOT, file), text)
  } else if (readFileSync(join(ROOT, file), 'utf8') !== text) {
    say(`${file} does not match the schemas. Run: npm run openapi`)
    process.exitCode = 1
  }
}
