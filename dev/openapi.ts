// `npm run openapi`: writes openapi.json from the schemas; with --check, only says whether it is fresh.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { say } from '../src/cli/terminal.ts'
import { interfaceDocument } from './interface-document.ts'

const FILE = join(import.meta.dirname, '../openapi.json')

const fresh = `${JSON.stringify(await interfaceDocument(), null, 2)}\n`
if (process.argv.includes('--check')) {
  if (readFileSync(FILE, 'utf8') !== fresh) {
    say('openapi.json does not match the schemas. Run: npm run openapi')
    process.exitCode = 1
  }
} else {
  writeFileSync(FILE, fresh)
}
